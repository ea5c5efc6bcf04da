package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// sample is one process: wall time, processor time and peak memory.
type sample struct {
	wall, cpu time.Duration
	rss       int64 // bytes
}

// env is the environment of every measured process: a home of its own.
func (b *bench) env(home string) []string {
	return append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"XDG_DATA_HOME=" + filepath.Join(home, "data")}, b.extra...)
}

// once runs argv and gives its sample; a failing program is an error.
func (b *bench) once(home string, argv ...string) (sample, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = home, b.env(home)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return sample{}, err
	}
	defer out.Close()
	cmd.Stdout = out
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return sample{}, fmt.Errorf("%v: %w\n%s", argv, err, stderr.Bytes())
	}
	s := sample{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	s.rss = peak(cmd.ProcessState)
	return s, nil
}

// several runs argv n times and gives the medians.
func (b *bench) several(n int, home string, argv ...string) (sample, error) {
	s, err := b.pairs(n, home, argv)
	if err != nil {
		return sample{}, err
	}
	return s[0], nil
}

// pairs runs commands by turns, so that noise meets all of them, and gives
// each one's medians.
func (b *bench) pairs(n int, home string, argvs ...[]string) ([]sample, error) {
	all := make([][]sample, len(argvs))
	for range n {
		for i, argv := range argvs {
			s, err := b.once(home, argv...)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], s)
		}
	}
	out := make([]sample, len(argvs))
	for i, list := range all {
		out[i] = median(list)
	}
	return out, nil
}

func median(list []sample) sample {
	pick := func(of func(sample) int64) int64 {
		v := make([]int64, len(list))
		for i, s := range list {
			v[i] = of(s)
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	return sample{
		wall: time.Duration(pick(func(s sample) int64 { return int64(s.wall) })),
		cpu:  time.Duration(pick(func(s sample) int64 { return int64(s.cpu) })),
		rss:  pick(func(s sample) int64 { return s.rss }),
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }
func mb(n int64) string         { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }
func ratio(a, b time.Duration) float64 {
	return float64(a) / float64(max(b, 1))
}

// build compiles a program of scripts/bench/ into the bench's directory.
func (b *bench) build(name string) (string, error) {
	out := filepath.Join(b.dir, name)
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", out, "./scripts/bench/"+name)
	cmd.Stderr = os.Stderr
	return out, cmd.Run()
}
