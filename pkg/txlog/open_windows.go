package txlog

// Windows has no flag against links; the file is compared with what Lstat saw.
const noFollow = 0

// syncFolder has nothing to do: Windows keeps names durable by itself.
func syncFolder(string) error { return nil }
