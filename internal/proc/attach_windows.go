package proc

import (
	"os"
	"os/exec"
)

// passedOn: a console sends its keys to every process of it.
var passedOn = []os.Signal{os.Interrupt}

func keep(*exec.Cmd, []*os.File) {}

func fromTerminal(os.Signal) bool { return true }
