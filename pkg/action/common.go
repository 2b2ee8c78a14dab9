package action

import (
	"path/filepath"
	"regexp"
)

// The inputs that several roles share, so that they are called and bounded the
// same everywhere. A role that needs another help text copies the value and
// changes it.
var (
	InputLedger = Input{Name: "ledger", Kind: Ledger, Default: "memory", Empty: EmptyIsDefault,
		Help: "Name of the ledger."}

	InputBranch = Input{Name: "branch", Kind: Branch, Empty: "ledgers/ and the ledger's name",
		Help: "Branch that holds the ledger.",
		Derived: func(a *Action) (string, error) {
			return "ledgers/" + a.GetInput("ledger"), nil
		}}

	InputRemote = Input{Name: "remote", Kind: Text, Empty: "the repository of the run",
		Help:    "Git remote that holds the branch: an https:// or file:// URL, or a path.",
		Derived: runRepository}

	InputToken = Input{Name: "token", Kind: Secret, Default: "${{ github.token }}", Empty: "no token",
		Help: "Token for the remote; it is sent only to the host of GITHUB_SERVER_URL."}

	InputPublish = Input{Name: "publish", Kind: Enum, Values: []string{"auto", "api", "git"}, Default: "auto", Empty: EmptyIsDefault,
		Help: "How the commit is made: api is GitHub's API, which signs it; git is a git push; auto is api for a repository of the run's own GitHub server, git for what the API does not take and for any other remote."}

	InputBaseCommit = Input{Name: "base-commit", Kind: Commit, Empty: "not checked",
		Help: "Commit that the ledger was restored from; the branch must still descend from it."}

	InputDirectory = Input{Name: "directory", Kind: Path, Empty: "$RUNNER_TEMP/ledger/ and the ledger's name",
		Help:    "Directory of the restored ledger.",
		Derived: temporaryDirectory}

	InputPayloadSchema = Input{Name: "payload-schema", Kind: Path, Empty: "every payload is taken",
		Help: "File of a JSON schema that payloads must satisfy: type, enum, required, properties, additionalProperties, items, oneOf, anyOf."}

	InputMaxShards = Input{Name: "max-shards", Kind: Int, Min: 1, Max: 1024, Default: "1024",
		Help: "Most shards that the ledger may have."}

	InputMaxSegmentKB = Input{Name: "max-segment-kb", Kind: KiB, Min: 1, Max: 10240, Default: "100",
		Help: "Largest shard, in KiB."}

	InputMaxRecordKB = Input{Name: "max-record-kb", Kind: KiB, Min: 1, Max: 1024, Default: "32",
		Help: "Largest record with its line feed, in KiB; not above max-segment-kb."}

	InputMaxPatchKB = Input{Name: "max-patch-kb", Kind: KiB, Min: 1, Max: 10240, Default: "100",
		Help: "Most that one run may add to the ledger, in KiB."}
)

// InputPlan is the file in which a plan of compaction travels.
var InputPlan = Input{Name: "plan", Kind: Path, Empty: "$RUNNER_TEMP/ledger-plan/, the ledger's name and /plan.json",
	Help: "File of the plan.", Derived: planFile}

// InputsLimits are the four limits of a ledger.
var InputsLimits = []Input{InputMaxShards, InputMaxSegmentKB, InputMaxRecordKB, InputMaxPatchKB}

// InputsRemote name a branch on a remote and how to reach it.
var InputsRemote = []Input{InputLedger, InputBranch, InputRemote, InputToken}

// Inputs joins lists of declarations and single ones into one list.
func Inputs(lists ...[]Input) []Input {
	var all []Input
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

var repositoryForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}$`)

func runRepository(a *Action) (string, error) {
	server, repository := a.getenv("GITHUB_SERVER_URL"), a.getenv("GITHUB_REPOSITORY")
	if server == "" || !repositoryForm.MatchString(repository) {
		return "", BadInput("remote", "not given, and the run names no repository (GITHUB_SERVER_URL, GITHUB_REPOSITORY); give a URL or a path")
	}
	return server + "/" + repository, nil
}

// planFile is where plan and apply look when they are not told.
func planFile(a *Action) (string, error) {
	temp := a.getenv("RUNNER_TEMP")
	if temp == "" {
		return "", BadInput("plan", "not given, and RUNNER_TEMP is not set; give a path")
	}
	return filepath.Join(temp, "ledger-plan", a.GetInput("ledger"), "plan.json"), nil
}

func temporaryDirectory(a *Action) (string, error) {
	temp := a.getenv("RUNNER_TEMP")
	if temp == "" {
		return "", BadInput("directory", "not given, and RUNNER_TEMP is not set; give a path")
	}
	return filepath.Join(temp, "ledger", a.GetInput("ledger")), nil
}
