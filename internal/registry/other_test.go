//go:build !unix

package registry

func pipes(manifest, contract, variant func(*Registry) string) []corruption { return nil }

func setUmask(int) {}

func limitFileSize(uint64) {}
