package thread

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseStepInputs(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a YAML mapping":                       {"branch: main\nissue: 7\n", `[branch "" true "" main][issue "" true "" 7]`},
		"a JSON mapping":                       {`{"branch":"main","n":7,"b":true}`, `[b "" true "" true][branch "" true "" main][n "" true "" 7]`},
		"a YAML list with every member":        {"- name: a\n  binding: steps.x.outputs.y\n  ok: false\n  detail: not there\n- name: b\n  value: v\n", `[a "steps.x.outputs.y" false "not there" nil][b "" true "" v]`},
		"a JSON list":                          {`[{"name":"a","value":"v","binding":"x"}]`, `[a "x" true "" v]`},
		"a version that is no number":          {"version: 1.10\nhex: 0x10\n", `[hex "" true "" 0x10][version "" true "" 1.10]`},
		"a value that is a list":               {"a: [1, x, {b: c}]\n", `[a "" true "" [1,"x",{"b":"c"}]]`},
		"a value of several lines":             {"a: |\n  x\n  y\n", "[a \"\" true \"\" x\ny\n]"},
		"null is an input without a value":     {"a:\nb: ~\n", `[a "" false "has no value" nil][b "" false "has no value" nil]`},
		"an empty text is a value":             {`{"a":""}`, `[a "" true "" ]`},
		"no text is no inputs":                 {" \n", ""},
		"a comment is no inputs":               {"# nothing\n", ""},
		"a text alone is refused":              {"hello", "error mapping"},
		"JSON with a name twice is refused":    {`{"a":1,"a":2}`, "error duplicate"},
		"YAML with a name twice is refused":    {"a: 1\na: 2\n", "error"},
		"YAML with a nested name twice":        {"a: {b: 1, b: 2}\n", "error twice"},
		"YAML with an alias is refused":        {"a: &x 1\nb: *x\n", "error anchors"},
		"YAML with a merge is refused":         {"a: {b: c}\n<<: {d: e}\n", "error plain text"},
		"YAML with a tag is refused":           {"a: !!binary aGk=\n", "error tags"},
		"two YAML documents are refused":       {"a: 1\n---\nb: 2\n", "error more than one"},
		"two JSON texts are refused":           {`{"a":1}{"b":2}`, "error JSON"},
		"an unknown member is refused":         {`[{"name":"a","vlaue":"v"}]`, "error input 1: must have only"},
		"an ok that is no boolean is refused":  {`[{"name":"a","ok":"yes"}]`, "error input 1"},
		"an input without a name is refused":   {`[{"value":"a"}]`, "error input 1: name"},
		"a name with a line feed is refused":   {`{"a\nb":"v"}`, "error input 1: name"},
		"two inputs of one name are refused":   {`[{"name":"a"},{"name":"a"}]`, "error input 2: there is another"},
		"a long binding is refused":            {`[{"name":"a","binding":"` + strings.Repeat("x", maxBindingChars+1) + `"}]`, "error binding is over"},
		"a deep value is refused":              {"{\"a\":" + strings.Repeat("[", 20) + strings.Repeat("]", 20) + "}", "error"},
		"a deep YAML value is refused":         {"a: " + strings.Repeat("[", 20) + strings.Repeat("]", 20), "error nested"},
		"a secret's name is refused":           {"github-token: x\n", "error input 1: its name"},
		"a secret's value is refused":          {"a: hunter2\n", "error that of PW"},
		"a secret inside of a value":           {"a: see long-secret-value there\n", "error holds the value of LONG"},
		"a secret inside of a nested value":    {"a: {b: see long-secret-value}\n", "error holds the value of LONG"},
		"a key of several lines in a nested":   {`a: {b: "x` + `\nline \"1\"\nline 2"}`, "error holds the value of PEM"},
		"a key with returns":                   {`{"a":"line \"1\"\r\nline 2"}`, "error that of PEM"},
		"a key in JSON in a text":              {`{"a":"{\"b\":\"line \\\"1\\\"\\nline 2\"}"}`, "error that of PEM"},
		"a short secret as a nested value":     {"a: [1, {b: hunter2}]\n", "error that of PW"},
		"a name in a value":                    {"a: {b: [{db-password: x}]}\n", "error a name in its value"},
		"a binding to a secret":                {`[{"name":"a","binding":"${{ secrets.X }}","value":"v"}]`, "error its binding"},
		"a binding to the token":               {`[{"name":"a","binding":"github['token']","value":"v"}]`, "error its binding"},
		"a binding of a like name":             {`[{"name":"a","binding":"steps.secrets-scan.outputs.x","value":"v"}]`, `[a "steps.secrets-scan.outputs.x" true "" v]`},
		"a secret inside of a detail":          {`[{"name":"a","detail":"long-secret-value","ok":false}]`, "error holds the value of LONG"},
		"a short secret inside of a long text": {"a: xhunter2x\n", `[a "" true "" xhunter2x]`},
		"more inputs than a step has":          {manyInputs(MaxInputs + 1), "error 101 inputs"},
	} {
		t.Run(name, func(t *testing.T) {
			inputs, err := ParseStepInputs([]byte(c.text), Secrets{"PW": "hunter2", "LONG": "long-secret-value", "PEM": "line \"1\"\nline 2\n", "EMPTY": "", "BLANK": " "})
			if want, isError := strings.CutPrefix(c.want, "error"); isError {
				if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "long-secret") {
					t.Errorf("error %v, want one with %q", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, in := range inputs {
				value := "nil"
				if in.Value != nil {
					value = *in.Value
				}
				got += fmt.Sprintf("[%s %q %v %q %s]", in.Name, in.Binding, in.OK, in.Detail, value)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func manyInputs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d: x\n", i)
	}
	return b.String()
}

func TestAValueIsCutByCharacters(t *testing.T) {
	for _, c := range []struct {
		char string
		n    int
		cut  bool
	}{{"a", 2000, false}, {"a", 2001, true}, {"é", 2000, false}, {"é", 2001, true}, {"\U0001f600", 2000, false}, {"\U0001f600", 2001, true}} {
		inputs, err := ParseStepInputs([]byte(`{"a":"`+strings.Repeat(c.char, c.n)+`"}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		if in := inputs[0]; in.Truncated != c.cut || *in.Value != strings.Repeat(c.char, 2000) {
			t.Errorf("%d of %s: %d bytes, truncated %v", c.n, c.char, len(*in.Value), in.Truncated)
		}
	}
}

func TestASecretLongerThanAValueIsFoundBeforeAndAfterTheCut(t *testing.T) {
	secret := strings.Repeat("s", 3000)
	secrets := Secrets{"KEY": secret}
	if _, err := ParseStepInputs([]byte("a: "+secret), secrets); err == nil {
		t.Error("not found before the cut")
	}
	if err := secrets.Check([]StepInput{NewStepInput("a", "", secret)}); err == nil {
		t.Error("not found after the cut")
	}
	if err := secrets.Check([]StepInput{NewStepInput("a", "", "fine")}); err != nil {
		t.Errorf("control: %v", err)
	}
}

func TestLooksSecret(t *testing.T) {
	for _, name := range []string{"token", "GITHUB_TOKEN", "githubToken", "apiKey", "api-key", "API_KEY", "db.password", "client_secret", "secretName", "private key", "aws-access-key", "MERGE_HMAC", "pat", "authorization", "sshKey", "credentials", "auth"} {
		if !LooksSecret(name) {
			t.Errorf("%s is taken", name)
		}
	}
	for _, name := range []string{"branch", "path", "pattern", "token-budget", "tokenCount", "tokens", "key", "author", "compat", "issue-number", "keyboard", "monkey", "patch"} {
		if LooksSecret(name) {
			t.Errorf("%s is refused", name)
		}
	}
}

func TestStepEntriesRefuse(t *testing.T) {
	ok := Step{Step: "plan", Agent: "planner", Run: "1", Attempt: 1, Inputs: []StepInput{NewStepInput("a", "", "v")}}
	if _, err := StepEntries(testThread, ok); err != nil {
		t.Fatalf("control: %v", err)
	}
	for name, change := range map[string]func(*Step){
		"a step without a name":   func(s *Step) { s.Step = "" },
		"a step of two lines":     func(s *Step) { s.Step = "a\nb" },
		"an agent of two lines":   func(s *Step) { s.Agent = "a\nb" },
		"a run that is no id":     func(s *Step) { s.Run = "x" },
		"a negative attempt":      func(s *Step) { s.Attempt = -1 },
		"an input over its size":  func(s *Step) { s.Inputs = []StepInput{{Name: "a", Value: ptr(strings.Repeat("x", 2001))}} },
		"an input without name":   func(s *Step) { s.Inputs = []StepInput{{}} },
		"a value that is no text": func(s *Step) { s.Inputs = []StepInput{{Name: "a", OK: true, Value: ptr("\xff")}} },
	} {
		s := ok
		change(&s)
		if _, err := StepEntries(testThread, s); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := StepEntries(Thread{}, ok); err == nil {
		t.Error("no thread is taken")
	}
}
