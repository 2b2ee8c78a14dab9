package script

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// testNode is the node that the tests run: LEDGER_TEST_NODE, or the one of this
// machine.
func testNode(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("LEDGER_TEST_NODE"); path != "" {
		return path
	}
	path, err := findNode()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// patient is for scripts that are to come to an end, on a busy machine too.
func patient(t *testing.T) Options { return Options{Node: testNode(t), Timeout: 5 * time.Minute} }

const testRecord = `{"id":"ldg-b39c903c-f4ed-4b4d-98be-dcd08bf8dbd3","parents":[],"payload":{"n":1},"sha":"sha256:feb6ed57c952cf905ff9ff5158ddc7e1d98323293d00712755baadb6e61c8e7d","timestamp":"2025-11-30T03:00:00.000Z","type":"note","version":1}`

func TestAValidationScriptAcceptsOnlyByFinishingWell(t *testing.T) {
	input := ValidationInput{Files: []File{{"notes/a.md", "# A\n"}}, Records: [][]byte{[]byte(testRecord)}}
	const module, body = "a module that ", "a body that "
	for _, c := range []struct {
		name, source string
		want         error
		says         string // part of the error, or the reason of a rejection
	}{
		{body + "returns nothing", `input.files.length;`, nil, ""},
		{body + "is a comment", `// nothing to check`, nil, ""},
		{body + "awaits", `await null; return input.records[0].payload.n === 1`, nil, ""},
		{body + "exports a function in the old way", `module.exports = (input) => input.files[0].path === "notes/a.md"`, nil, ""},
		{body + "exports a default in the old way", `exports.default = async (input) => ({ ok: input.records[0].type === "note" })`, nil, ""},
		{body + "begins like a program", "#!/usr/bin/env node\nreturn true", nil, ""},
		{body + "uses a built-in module", `return require("node:crypto").createHash("sha256").update(input.files[0].text).digest("hex").length === 64`, nil, ""},
		{body + "loads a built-in module late", `return typeof (await import("node:path")).join === "function"`, nil, ""},
		{body + "prints a verdict", `console.log("value true\n{\"ok\":true}"); console.error("true"); return false`, ErrRejected, ""},
		{body + "returns false", `return false`, ErrRejected, ""},
		{body + "gives a reason", `return { ok: false, reason: "1 file" }`, ErrRejected, "1 file"},
		{body + "has polluted prototypes", `Object.prototype.ok = true; Object.prototype.reason = "x"; return {}`, ErrFailed, "neither a boolean"},
		{body + "has changed how values are written", `Object.prototype.toJSON = () => true; JSON.stringify = () => "true"; return { ok: false }`, ErrRejected, ""},
		{body + "has fixed how values are written", `Object.defineProperty(Object.prototype, "toJSON", { value: () => true }); return { ok: false }`, ErrFailed, "cannot be written"},
		{body + "has replaced what the harness uses", `const fs = require("node:fs"); fs.writeSync = () => 0; Array.isArray = () => true; Object.keys = () => []; Reflect.apply = () => {}; Buffer.from = () => ""; RegExp.prototype.exec = () => null; return false`, ErrRejected, ""},
		{body + "writes to the descriptor of the result", `require("node:fs").writeSync(3, "value true\n"); return true`, ErrFailed, "tampered"},
		{body + "floods the descriptor of the result", `for (;;) require("node:fs").writeSync(3, "x".repeat(1000))`, ErrFailed, "more than 32768 bytes to descriptor 3"},
		{body + "closes the descriptor of the result", `require("node:fs").closeSync(3); return true`, ErrFailed, "status 1"},
		{body + "throws", "\n\nthrow new Error(input.files[0].text)", ErrFailed, "threw at line 3;"},
		{body + "throws a value", `throw "x"`, ErrFailed, "threw;"},
		{body + "throws something that lies about its line", `throw { get stack() { throw 1 } }`, ErrFailed, "threw;"},
		{body + "changes its input", `input.files[0].text = ""`, ErrFailed, "threw at line 1;"},
		{body + "adds to its input", `input.records.push({})`, ErrFailed, "threw at line 1;"},
		{body + "changes a payload", "\ninput.records[0].payload.n = 2", ErrFailed, "threw at line 2;"},
		{body + "exits with 0 before its result", `process.exit(0)`, ErrFailed, "without a result"},
		{body + "exits with 3", `process.exit(3)`, ErrFailed, "status 3"},
		{body + "fails after its result", `setTimeout(() => process.exit(4), 1); return true`, ErrFailed, "status 4"},
		{body + "sets a status", `process.exitCode = 5; return true`, ErrFailed, "status 5"},
		{body + "forgets a rejected promise", `Promise.reject(new Error("x")); return true`, ErrFailed, "status 1"},
		{body + "waits for what never comes", `await new Promise(() => {}); return true`, ErrFailed, "without a result"},
		{body + "aborts", `process.abort()`, ErrFailed, "status 1"},
		{body + "returns a number", `return 1`, ErrFailed, "neither a boolean"},
		{body + "returns a function", `return () => true`, ErrFailed, "cannot be written"},
		{body + "returns what JSON cannot hold", `return 1n`, ErrFailed, "cannot be written"},
		{body + "returns a long text", `return "x".repeat(1e6)`, ErrFailed, "over 32768 bytes"},
		{body + "exports something else", `exports.check = () => true`, ErrFailed, "exports no function"},
		{module + "accepts", `export default (input) => input.files[0].text === "# A\n"`, nil, ""},
		{module + "imports a built-in module", "import { join } from 'node:path';\nexport default async () => join('a', 'b').length === 3", nil, ""},
		{module + "rejects", `export default async () => false`, ErrRejected, ""},
		{module + "throws", "export default function (input) {\n  throw new Error('x');\n}", ErrFailed, "threw at line 2;"},
		{module + "throws while it loads", "export default () => true;\nthrow new Error('x')", ErrFailed, "threw at line 2;"},
		{module + "has no default", `export const check = () => true`, ErrFailed, "exports no function"},
		{module + "has a default that is no function", `export default { ok: true }`, ErrFailed, "exports no function"},
		{module + "imports a package", `import "left-pad"; export default () => true`, ErrFailed, "threw"},
		{"text that is not JavaScript", `if (`, ErrFailed, "node --check"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := Validate(context.Background(), patient(t), []byte(c.source), input)
			if !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if c.want == ErrRejected && report.Reason != c.says || c.want == ErrFailed && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v with reason %q, want %q", err, report.Reason, c.says)
			}
			if err != nil && strings.Contains(err.Error(), "# A") {
				t.Fatalf("the error quotes data: %v", err)
			}
		})
	}
}

func TestAScriptSeesItsInputExactly(t *testing.T) {
	text := "é \u2028 \x00 \U0001F600 \"\\\n"
	record := `{"9":1,"10":[],"__proto__":{"x":[1e+21,-1.5,null,true,"é"]},"a":{}}`
	source := `const [f, r] = [input.files[0], input.records[0]];
return f.path === "a/ü.md" && f.text === "é \u2028 \0 \u{1F600} \"\\\n" && input.records.length === 1
  && JSON.stringify(r) === ` + quote(record) + ` && Object.isFrozen(r.__proto__.x) && Object.keys(r).length === 4
  && JSON.stringify(Object.keys(input)) === '["files","records"]'`
	_, err := Validate(context.Background(), patient(t), []byte(source),
		ValidationInput{Files: []File{{"a/ü.md", text}}, Records: [][]byte{[]byte(record + "\n")}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestALargeInputIsHandedOver(t *testing.T) {
	records := make([][]byte, (MaxInputBytes-1000)/(len(testRecord)+1))
	for i := range records {
		records[i] = []byte(testRecord)
	}
	report, err := Validate(context.Background(), patient(t), []byte("return { ok: false, reason: `${input.records.length}` }"), ValidationInput{Records: records})
	if !errors.Is(err, ErrRejected) || report.Reason != strconv.Itoa(len(records)) {
		t.Fatalf("got %v, %q", err, report.Reason)
	}
}

func TestWhatAScriptPrintsIsCounted(t *testing.T) {
	report, err := Validate(context.Background(), patient(t), []byte(`process.stdout.write("12345"); process.stderr.write("678")`), ValidationInput{})
	if err != nil || report.PrintedBytes != 8 {
		t.Fatalf("got %d bytes, %v; want 8", report.PrintedBytes, err)
	}
	if !strings.HasPrefix(report.Node, "v2") {
		t.Fatalf("got node %q", report.Node)
	}
}

func TestAScriptThatDoesNotEndIsKilled(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         error
		says         string
	}{
		{"an endless loop", `for (;;);`, ErrTimeout, "after 1s"},
		{"a timer that keeps it alive after its result", `setInterval(() => {}, 1000); return true`, ErrTimeout, "after 1s"},
		{"endless output", `for (;;) require("node:fs").writeSync(1, "x".repeat(10000))`, ErrFailed, "printed more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := patient(t)
			if c.want == ErrTimeout {
				o.Timeout = time.Second
			}
			report, err := Validate(context.Background(), o, []byte(c.source), ValidationInput{})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if c.want == ErrFailed && report.PrintedBytes <= maxPrintedBytes {
				t.Fatalf("%d bytes were counted", report.PrintedBytes)
			}
		})
	}
	t.Run("a caller that gives up", func(t *testing.T) {
		if _, err := Validate(context.Background(), patient(t), []byte("1"), ValidationInput{}); err != nil {
			t.Fatal(err) // the canary has run after this
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_, err := Validate(ctx, patient(t), []byte("for (;;);"), ValidationInput{})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want %v", err, context.DeadlineExceeded)
		}
	})
}

func TestASelectionScriptProposesSomeOfItsSegments(t *testing.T) {
	segments := []Segment{
		{ID: idA, SHA256: "sha256:01", Bytes: 10, Records: []string{"sha256:0a"}, Types: map[string]int{"note": 1}, Newest: "2025-01-01T00:00:00.000Z"},
		{ID: idB, SHA256: "sha256:02", Bytes: 9999, Records: []string{"sha256:0b"}, Types: map[string]int{"__proto__": 1}},
	}
	settings := SelectionOptions{Ledger: "memory", Branch: "ledgers/memory", Trigger: "scheduled", MinSegments: 2, MaxSegments: 8, MaxSegmentBytes: 102400}
	for _, c := range []struct {
		name, source string
		want         string // ids, joined; "-" is an error
		says         string
	}{
		{"a body", `return { sources: segments.filter((s) => s.bytes < options.maxSegmentBytes / 100).map((s) => s.id) }`, idA, ""},
		{"a module", `export default (segments, options) => ({ sources: segments.map((s) => s.id).reverse().slice(0, options.minSegments) })`, idB + "," + idA, ""},
		{"nothing", `return { sources: [] }`, "", ""},
		{"everything it is told", `return { sources: segments[0].types.note === 1 && Object.keys(segments[1].types)[0] === "__proto__" && segments[0].newest && options.trigger === "scheduled" && options.branch === "ledgers/memory" && options.ledger === "memory" && options.maxSegments === 8 ? [segments[0].id] : [] }`, idA, ""},
		{"sorting its input", `segments.sort(); return { sources: [] }`, "-", "threw at line 1"},
		{"changing its options", `options.maxSegments = 256; return { sources: [] }`, "-", "threw at line 1"},
		{"a segment that it was not given", `return { sources: ["00000000-0000-4000-8000-000000000001"] }`, "-", "not one of the segments"},
		{"a segment twice", `return { sources: [segments[0].id, segments[0].id] }`, "-", "named before"},
		{"more than sources", `return { sources: [], replacement: "x" }`, "-", "not exactly"},
		{"nothing at all", `segments.length`, "-", "not exactly"},
		{"true", `return true`, "-", "not exactly"},
		{"printing its choice", `console.log(JSON.stringify({ sources: [segments[0].id] }))`, "-", "not exactly"},
		{"a throw", `throw 1`, "-", "threw"},
		{"a status", `process.exitCode = 1; return { sources: [] }`, "-", "status 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Select(context.Background(), patient(t), []byte(c.source), segments, settings)
			if c.want == "-" {
				if !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), c.says) || got.Sources != nil {
					t.Fatalf("got %v, %v; want an error with %q and no sources", got.Sources, err, c.says)
				}
				return
			}
			if err != nil || strings.Join(got.Sources, ",") != c.want {
				t.Fatalf("got %v, %v; want %s", got.Sources, err, c.want)
			}
		})
	}
}
