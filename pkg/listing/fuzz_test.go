package listing

import (
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzReadEvent: whatever a payload holds, it is refused or gives a trigger of its own
// form, and an error gives nobody.
func FuzzReadEvent(f *testing.F) {
	f.Add("issue_comment", []byte(`{"action":"created","sender":{"id":1,"login":"a","type":"User"},"repository":{"id":9},"issue":{"number":1},"comment":{"id":7,"body":"x","created_at":"2024-03-01T10:00:00Z"}}`))
	f.Add("issues", []byte(`{"action":"opened","issue":{"id":1,"number":1,"body":null,"created_at":"2024-03-01T10:00:00Z"}}`))
	f.Add("discussion", []byte(`{}`))
	f.Add("pull_request_review", []byte(`{"review":{"id":-1}}`))
	f.Fuzz(func(t *testing.T, name string, payload []byte) {
		e, err := ReadEvent(name, payload, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		if err != nil {
			if e.Sender != nil || e.source != "" || !utf8.ValidString(err.Error()) {
				t.Fatalf("%v with %+v", err, e)
			}
			return
		}
		if (e.source == "") != (e.body == nil) || e.At.Year() > 2026 {
			t.Fatalf("%+v", e)
		}
	})
}
