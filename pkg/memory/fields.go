package memory

import (
	"slices"
	"strconv"
	"strings"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// fields reads the members of an object that a stranger wrote: each by its exact
// name and kind, and at the end none is left over. Absent and empty are not the
// same: an optional string that is present is not empty.
type fields struct {
	what    string
	members []canonical.Member
	used    uint64 // bits of members
	fault   *Refusal
}

// maxMembers is what fits the bits of fields; no object of a format has as many.
const maxMembers = 64

func readObject(v canonical.Value, what string) *fields {
	f := &fields{what: what, members: v.Members}
	switch {
	case v.Kind != canonical.Object:
		f.failf("is no object")
	case len(v.Members) > maxMembers:
		f.failf("has too many members")
	}
	return f
}

// parsePayload reads a record's payload.
func parsePayload(payload []byte, what string) *fields {
	v, err := parseText(payload)
	return readParsed(v, err, what)
}

func readParsed(v canonical.Value, err error, what string) *fields {
	if err != nil {
		return &fields{what: what, fault: refuse(ReasonShape, "%s is not strict JSON", what)}
	}
	return readObject(v, what)
}

func (f *fields) failf(format string, args ...any) {
	if f.fault == nil {
		f.fault = refuse(ReasonShape, f.what+" "+format, args...)
		f.members = nil
	}
}

func (f *fields) get(name string) (canonical.Value, bool) {
	for i := range f.members {
		if f.members[i].Name == name {
			f.used |= 1 << i
			return f.members[i].Value, true
		}
	}
	return canonical.Value{}, false
}

// text reads a required string of 1 to most bytes.
func (f *fields) text(name string, most int) string {
	v, ok := f.get(name)
	if !ok || v.Kind != canonical.String || v.Str == "" {
		f.failf("needs a string %s", name)
		return ""
	}
	return f.bounded(name, v.Str, most)
}

// maybe reads an optional string.
func (f *fields) maybe(name string, most int) string {
	v, ok := f.get(name)
	if !ok {
		return ""
	}
	if v.Kind != canonical.String || v.Str == "" {
		f.failf("needs a string that is not empty, or none, as %s", name)
		return ""
	}
	return f.bounded(name, v.Str, most)
}

func (f *fields) bounded(name, s string, most int) string {
	if len(s) > most {
		f.failf("has %d bytes in %s, at most %d are allowed", len(s), name, most)
		return ""
	}
	return s
}

func (f *fields) oneOf(name string, values ...string) string {
	s := f.text(name, MaxFieldBytes)
	if f.fault == nil && !slices.Contains(values, s) {
		f.failf("must have one of %s as %s", strings.Join(values, ", "), name)
	}
	return s
}

// flag reads a member that is true or absent.
func (f *fields) flag(name string) bool {
	v, ok := f.get(name)
	if ok && v.Kind != canonical.True {
		f.failf("needs true, or nothing, as %s", name)
	}
	return v.Kind == canonical.True
}

// number reads a required whole number from 0 to most.
func (f *fields) number(name string, most int) int {
	v, _ := f.get(name)
	n, err := strconv.Atoi(v.Str)
	if v.Kind != canonical.Number || err != nil || n < 0 || n > most {
		f.failf("needs a whole number from 0 to %d as %s", most, name)
		return 0
	}
	return n
}

func (f *fields) time(name string) string {
	s := f.text(name, MaxFieldBytes)
	if _, ok := ledger.ParseTime(s); !ok && f.fault == nil {
		f.failf("needs a time YYYY-MM-DDTHH:MM:SS.mmmZ as %s", name)
	}
	return s
}

func (f *fields) hash(name string) ledger.Hash {
	h, ok := ledger.ParseHash(f.text(name, MaxFieldBytes))
	if !ok {
		f.failf("needs a digest as %s", name)
	}
	return h
}

// always are the lists that stand there even when they are empty; every other one
// is absent then.
var always = []string{"memories", "operations", "parent_ids", "verdicts"}

// list reads an array of at most most items.
func (f *fields) list(name string, most int) []canonical.Value {
	v, ok := f.get(name)
	if !ok && !slices.Contains(always, name) {
		return nil
	}
	if v.Kind != canonical.Array || len(v.Items) > most {
		f.failf("needs a list of at most %d as %s", most, name)
		return nil
	}
	if len(v.Items) == 0 && !slices.Contains(always, name) {
		f.failf("needs a list that is not empty, or none, as %s", name)
	}
	return v.Items
}

// texts reads an optional list of strings, none empty.
func (f *fields) texts(name string, most, bytes int) []string {
	items := f.list(name, most)
	if len(items) == 0 {
		return nil
	}
	list := make([]string, len(items))
	for i, v := range items {
		if v.Kind != canonical.String || v.Str == "" || len(v.Str) > bytes {
			f.failf("needs strings of 1 to %d bytes in %s", bytes, name)
			return nil
		}
		list[i] = v.Str
	}
	return list
}

func (f *fields) object(name string) *fields {
	v, _ := f.get(name)
	return readObject(v, f.what+" "+name)
}

// join takes over the fault of an object within.
func (f *fields) join(inner *fields) {
	if fault := inner.end(); fault != nil && f.fault == nil {
		f.fault = fault
		f.members = nil
	}
}

// end returns what was wrong; a member that was not asked for is.
func (f *fields) end() *Refusal {
	if f.fault != nil {
		return f.fault
	}
	for i := range f.members {
		if f.used&(1<<i) == 0 {
			return refuse(ReasonShape, "%s has an unknown member %s", f.what, quoted(f.members[i].Name))
		}
	}
	return nil
}

// object builds the canonical text of an object.
type object []canonical.Member

func str(s string) canonical.Value { return canonical.Value{Kind: canonical.String, Str: s} }

func (o *object) put(name string, v canonical.Value) {
	*o = append(*o, canonical.Member{Name: name, Value: v})
}

func (o *object) text(name, s string) { o.put(name, str(s)) }

// maybe leaves an empty string out.
func (o *object) maybe(name, s string) {
	if s != "" {
		o.text(name, s)
	}
}

func (o *object) number(name string, n int) {
	o.put(name, canonical.Value{Kind: canonical.Number, Str: strconv.Itoa(n)})
}

// flag leaves false out.
func (o *object) flag(name string, b bool) {
	if b {
		o.put(name, canonical.Value{Kind: canonical.True})
	}
}

func (o *object) list(name string, items []canonical.Value) {
	if len(items) > 0 {
		o.put(name, canonical.Value{Kind: canonical.Array, Items: items})
	}
}

func (o *object) texts(name string, list []string) {
	items := make([]canonical.Value, len(list))
	for i, s := range list {
		items[i] = str(s)
	}
	o.list(name, items)
}

func (o object) value() canonical.Value {
	members := slices.Clone(o)
	slices.SortFunc(members, func(a, b canonical.Member) int { return canonical.CompareNames(a.Name, b.Name) })
	return canonical.Value{Kind: canonical.Object, Members: members}
}

// bytes is the canonical text. What this package builds neither nests too deep
// nor overflows.
func (o object) bytes() []byte {
	text, err := o.value().Text()
	if err != nil {
		panic("memory: a format nests too deep")
	}
	return text
}
