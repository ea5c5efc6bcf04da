// Command plain reads every file of a registry in a plain loop: what list and
// export are compared with.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := os.Args[1]
	entries, err := os.ReadDir(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	total := 0
	for _, e := range entries {
		for _, name := range []string{"manifest.json", "contract.json", "variants/default.json"} {
			data, err := os.ReadFile(filepath.Join(root, e.Name(), name))
			if err == nil {
				total += len(data)
			}
		}
	}
	fmt.Println(total)
}
