package thread

import "strings"

// User is an account as the REST API shows it. ID 0 and Login "" are unknown.
type User struct {
	ID    int64   `json:"id"`
	Login string  `json:"login"`
	Name  *string `json:"name,omitzero"`
	Type  string  `json:"type"`
}

// ghost is the account that GitHub shows in place of deleted ones.
const ghost = "ghost"

// isNobody reports whether u stands for a deleted account. All of these are one
// principal that nothing matches and nobody trusts.
func (u *User) isNobody() bool {
	return u == nil || u.ID == 0 && u.Login == "" || strings.EqualFold(u.Login, ghost)
}

// isBot reports whether u is a genuine bot account: the type says so, or the
// suffix, which no person's login can have.
func (u *User) isBot() bool {
	return !u.isNobody() && (u.Type == "Bot" || strings.HasSuffix(u.Login, "[bot]"))
}

// isPerson reports whether u is a user's account. Placeholders of imported
// threads (Mannequin), organizations and what a later API calls otherwise are
// none.
func (u *User) isPerson() bool { return !u.isNobody() && u.Type == "User" && !u.isBot() }

// same reports whether both are one account: by id when both have one, by login,
// which a rename can pass on, only when one of them lacks the id.
func same(a, b *User) bool {
	if a.isNobody() || b.isNobody() {
		return false
	}
	if a.ID != 0 && b.ID != 0 {
		return a.ID == b.ID
	}
	return a.Login != "" && strings.EqualFold(a.Login, b.Login)
}
