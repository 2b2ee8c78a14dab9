package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestQueryAnswersAsTheReferencesPredicate(t *testing.T) {
	var v struct {
		Files []shardFile
		Cases []struct {
			Name, Query string
			Expect      struct {
				Rows       []string
				HasMore    bool
				NextCursor *string
				Error      json.RawMessage
			}
		}
	}
	vectors(t, "query.json", &v)
	root := folder(t, v.Files)
	asked, refused := 0, 0
	for _, c := range v.Cases {
		args, ok := queryFlags(c.Query)
		if !ok {
			continue // a value that no flag can state
		}
		code, out, _ := cli("", slices.Concat([]string{"query", "--max-segment-kb", "1024"}, args, []string{root})...)
		if c.Expect.Error != nil {
			if refused++; code != exitUsage || out != "" {
				t.Errorf("%s: exit %d, %.200s; want a refusal", c.Name, code, out)
			}
			continue
		}
		asked++
		var got struct {
			Rows       []struct{ SHA string }
			HasMore    bool
			NextCursor *string
		}
		if err := json.Unmarshal([]byte(out), &got); code != exitDone || err != nil {
			t.Errorf("%s: exit %d, %.200s", c.Name, code, out)
			continue
		}
		var rows []string
		for _, row := range got.Rows {
			rows = append(rows, row.SHA)
		}
		cursor := func(p *string) string {
			if p == nil {
				return "null"
			}
			return *p
		}
		if !slices.Equal(rows, c.Expect.Rows) || got.HasMore != c.Expect.HasMore || cursor(got.NextCursor) != cursor(c.Expect.NextCursor) {
			t.Errorf("%s: rows %v, more %v, cursor %s; want %v, %v, %s", c.Name, rows, got.HasMore, cursor(got.NextCursor),
				c.Expect.Rows, c.Expect.HasMore, cursor(c.Expect.NextCursor))
		}
	}
	if asked < 150 || refused < 30 {
		t.Errorf("only %d questions and %d refusals", asked, refused)
	}
}

// queryFlags turns a query of the vectors into flags, where that is possible.
func queryFlags(query string) (args []string, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(query), &members) != nil {
		return nil, false
	}
	for name, raw := range members {
		text := ""
		switch name {
		case "where":
			if text = string(raw); text == "null" {
				return nil, false
			}
		case "limit":
			n := 0
			if json.Unmarshal(raw, &n) != nil {
				return nil, false
			}
			text = strconv.Itoa(n)
		default:
			if json.Unmarshal(raw, &text) != nil || text == "" || strings.Contains(string(raw), `\ud8`) {
				return nil, false
			}
		}
		args = append(args, "--"+name, text)
	}
	return args, true
}

func TestCompactPlanPrintsThePlanOfTheReference(t *testing.T) {
	var v struct {
		Planning []struct {
			Name, Config, Trigger, Now, Plan string
			BaseCommit                       string `json:"base_commit"`
			Files                            []shardFile
			Selection                        struct{ Explicit []string }
		}
	}
	vectors(t, "plans.json", &v)
	// Where the built-in selection is deliberately another one, or the choice was
	// made by hand; the library's tests name the reasons.
	other := map[string]bool{
		"unsorted lines and duplicate lines inside a source are accepted as canonical segments": true,
		"duplicate records inside one segment are over-counted by the fit check":                true,
	}
	planned := 0
	for _, c := range v.Planning {
		if len(c.Selection.Explicit) > 0 || other[c.Name] {
			continue
		}
		var config struct {
			Name       string
			MaxSegment int `json:"max_segment_kb"`
			MaxRecord  int `json:"max_record_kb"`
			Compaction struct {
				Min int `json:"min_segments"`
				Max int `json:"max_segments"`
			}
		}
		if err := json.Unmarshal([]byte(c.Config), &config); err != nil {
			t.Fatal(err)
		}
		code, out, stderr := cli("", "compact", "plan", "--json", "--ledger", config.Name,
			"--max-segment-kb", strconv.Itoa(config.MaxSegment), "--max-record-kb", strconv.Itoa(config.MaxRecord),
			"--min-segments", strconv.Itoa(config.Compaction.Min), "--max-segments", strconv.Itoa(config.Compaction.Max),
			"--trigger", c.Trigger, "--base-commit", c.BaseCommit, "--created-at", c.Now, folder(t, c.Files))
		want := c.Plan
		if want == "" {
			want = "null"
		}
		if code != exitDone || strings.TrimSuffix(out, "\n") != want {
			t.Errorf("%s: exit %d, %s%s\nwant %s", c.Name, code, out, stderr, want)
		}
		planned++
	}
	if planned < 12 {
		t.Errorf("only %d plans were compared", planned)
	}
}
