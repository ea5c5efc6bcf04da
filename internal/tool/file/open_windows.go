package file

import (
	"io/fs"
	"os"
)

const noWait = 0

func keepOwner(*os.File, fs.FileInfo) {}
