// Command matrix prints the platforms of action-matrix.yml, for the job matrices
// of workflows and for scripts:
//
//	matrix FILE json    one JSON array, as fromJSON in a workflow takes it
//	matrix FILE list    os/arch, one a line
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

type platform struct {
	OS   string `yaml:"os" json:"os"`
	Arch string `yaml:"arch" json:"arch"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: matrix FILE json|list")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var matrix struct {
		Platforms []platform `yaml:"platforms"`
	}
	if err := yaml.Unmarshal(text, &matrix); err != nil {
		return err
	}
	if len(matrix.Platforms) == 0 {
		return errors.New("the file lists no platforms")
	}
	switch args[1] {
	case "json":
		return json.NewEncoder(os.Stdout).Encode(matrix.Platforms)
	case "list":
		for _, p := range matrix.Platforms {
			fmt.Printf("%s/%s\n", p.OS, p.Arch)
		}
		return nil
	}
	return errors.New("usage: matrix FILE json|list")
}
