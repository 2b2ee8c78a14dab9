package memory

import (
	"io"
	"slices"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Clerk is what a trusted job writes with. Principal comes from [Policy.Writer]. Now and the ids that callers choose
// stay the same when a job is done again on a newer branch; Random may go on.
type Clerk struct {
	Principal     Principal
	Workflow, Run string // where the job runs, for the admission record
	Now           time.Time
	Random        io.Reader
	Limits        ledger.Limits
}

// docket collects the records of one trusted commit: each is sealed on top of the
// heads, admitted into the state, and listed in the admission that ends the
// commit. When the list would not fit one record, the chain gets several links.
type docket struct {
	Clerk
	s         *State
	heads     []ledger.Hash
	records   []ledger.Record
	verdicts  []Verdict // of the link being written
	size      int
	link      *link
	proposals int    // admitted in this run
	nextID    string // of the next record, where the caller chose it
}

// open starts a commit on the branch as it was read, with records on top that are
// to be published with it.
func (s *State) open(c Clerk, admitted []ledger.Record) (*docket, error) {
	if err := s.Authorizes(); err != nil {
		return nil, err
	}
	if fault := c.Principal.check(); fault != nil {
		return nil, fault
	}
	d := &docket{Clerk: c, s: s}
	if s.ledger != nil {
		d.heads = s.ledger.Heads()
	}
	for _, r := range admitted {
		if s.ledger == nil || !s.ledger.Has(r.SHA()) {
			d.stack(r)
		}
	}
	d.begin()
	return d, nil
}

func (d *docket) begin() {
	d.link = &link{Admission: Admission{Seq: 1, Principal: d.Principal, Workflow: d.Workflow, Run: d.Run}, timestamp: ledger.FormatTime(d.Now)}
	d.verdicts, d.size = nil, 0
	if tip := d.s.tip; tip != nil {
		d.link.Seq, d.link.Previous = tip.Seq+1, tip.sha
		// A runner whose clock is behind does not turn time back.
		d.link.timestamp = max(d.link.timestamp, tip.time)
	}
	d.link.time = d.link.timestamp
}

// stack makes a record a head in place of its parents.
func (d *docket) stack(r ledger.Record) {
	parents := r.Parents()
	d.heads = slices.DeleteFunc(d.heads, func(h ledger.Hash) bool { return slices.Contains(parents, h) })
	d.heads = append(d.heads, r.SHA())
	slices.SortFunc(d.heads, ledger.Hash.Compare)
}

// seal makes a record on top of the heads.
func (d *docket) seal(typ string, payload []byte) (ledger.Record, error) {
	const perParent = 74
	parents := d.heads[:min(len(d.heads), ledger.MaxParents, max(1, d.Limits.MaxRecordBytes/4/perParent))]
	if fault := FitRecord(typ, payload, len(parents), d.Limits); fault != nil {
		return ledger.Record{}, fault
	}
	id := d.nextID
	d.nextID = ""
	if id == "" {
		uuid, err := ledger.NewUUID(d.Random)
		if err != nil {
			return ledger.Record{}, err
		}
		id = "ldg-" + uuid
	}
	r, err := ledger.Seal(ledger.Draft{ID: id, Parents: slices.Clone(parents), Payload: payload, Timestamp: ledger.FormatTime(d.Now), Type: typ})
	if err != nil {
		return r, err
	}
	d.stack(r)
	d.records = append(d.records, r)
	return r, nil
}

// write seals and admits one of the job's own records; that one is refused ends
// the job.
func (d *docket) write(typ string, payload []byte) (ledger.Record, error) {
	r, err := d.seal(typ, payload)
	if err != nil {
		return r, err
	}
	if v, err := d.judge(r); err != nil || !v.Accepted {
		if err == nil {
			err = v.Refusal()
		}
		return r, err
	}
	return r, nil
}

// judge admits a record and lists the verdict.
func (d *docket) judge(r ledger.Record) (Verdict, error) {
	return d.list(r, func() *Refusal { return d.s.admit(d.Principal, r, d.link) })
}

func (d *docket) list(r ledger.Record, judge func() *Refusal) (Verdict, error) {
	const verdictBytes = 1 << 10 // more than any takes
	if d.size+verdictBytes > min(maxVerdictBytes, d.Limits.MaxRecordBytes/2) && len(d.verdicts) > 0 {
		if err := d.close(); err != nil {
			return Verdict{}, err
		}
		d.begin()
	}
	v := Verdict{SHA: r.SHA(), Accepted: true}
	if fault := judge(); fault != nil {
		v = Verdict{SHA: r.SHA(), Reason: fault.Reason, Detail: cut(fault.Detail, maxReasonBytes), Head: fault.Head}
	}
	d.s.own[v.SHA] = r
	d.s.listed[v.SHA] = &v
	d.verdicts = append(d.verdicts, v)
	text, err := v.value().Text()
	d.size += len(text) + 1
	return v, err
}

// close writes the admission of what was listed since the last.
func (d *docket) close() error {
	if len(d.verdicts) == 0 {
		return nil
	}
	d.link.Verdicts = d.verdicts
	r, err := d.sealAt(d.link.timestamp, TypeAdmission, d.link.Admission.Seal())
	if err != nil {
		return err
	}
	d.link.sha = r.SHA()
	s := d.s
	s.linkOf[d.link.sha] = d.link
	s.links[d.link.Previous] = append(s.links[d.link.Previous], d.link)
	s.tip, s.chain = d.link, append(s.chain, d.link)
	return nil
}

func (d *docket) sealAt(timestamp, typ string, payload []byte) (ledger.Record, error) {
	now := d.Now
	d.Now, _ = ledger.ParseTime(timestamp)
	defer func() { d.Now = now }()
	return d.seal(typ, payload)
}

// finish ends the commit and returns its records.
func (d *docket) finish() ([]ledger.Record, error) {
	if err := d.close(); err != nil {
		return nil, err
	}
	return d.records, nil
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xc0 == 0x80 {
		most--
	}
	return s[:most] + "..."
}
