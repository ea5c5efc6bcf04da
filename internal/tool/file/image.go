package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os"

	"larva.dev/larva/internal/tool"
)

// Limits of a picture, the ones that the services set: a larger one would be
// refused there, and with it the whole request.
const (
	maxImageBytes  = 5 << 20
	maxImagePixels = 8000 // of a side
)

// kind is one sort of picture.
type kind struct {
	media string
	is    func(head []byte) bool
	size  func(io.Reader) (image.Config, error)
	// whole says that the data goes on to its end: a service refuses what was
	// cut off.
	whole func(data []byte) bool
}

var kinds = [...]kind{
	{"image/png", begins("\x89PNG\r\n\x1a\n"), png.DecodeConfig, pngWhole},
	{"image/jpeg", begins("\xff\xd8\xff"), jpeg.DecodeConfig, jpegWhole},
	{"image/gif", isGIF, gif.DecodeConfig, gifWhole},
	{"image/webp", isWebP, webpConfig, webpWhole},
}

func begins(with string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(with)) }
}

// pngWhole looks for the last chunk with its checksum, jpegWhole for the end
// mark; either may have something behind it.
func pngWhole(b []byte) bool {
	i := bytes.LastIndex(b, []byte("IEND"))
	return i >= 0 && i+8 <= len(b)
}

func jpegWhole(b []byte) bool { return bytes.Contains(b, []byte("\xff\xd9")) }

func gifWhole(b []byte) bool {
	return bytes.HasSuffix(bytes.TrimRight(b, "\x00"), []byte(";"))
}

func isGIF(b []byte) bool {
	return bytes.HasPrefix(b, []byte("GIF87a")) || bytes.HasPrefix(b, []byte("GIF89a"))
}

func isWebP(b []byte) bool {
	return len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP"
}

// kindOf looks at how a file begins; its name does not count. A text that
// happens to begin so is told apart by holding no NUL, which every picture's
// sizes do.
func kindOf(head []byte) *kind {
	for i := range kinds {
		if kinds[i].is(head) && bytes.IndexByte(head, 0) >= 0 {
			return &kinds[i]
		}
	}
	return nil
}

// picture gives a file as an image for the model; nil where it is none. What is
// one but cannot be shown is an error. It reads from the file's beginning and
// leaves it there.
func picture(f *os.File, size int64) (*tool.Image, image.Config, error) {
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, image.Config{}, err
	}
	k := kindOf(head[:n])
	if k == nil {
		return nil, image.Config{}, nil
	}
	if size > maxImageBytes {
		return nil, image.Config{}, fmt.Errorf("it is %s of %d bytes; %d at most can be shown", k.media, size, maxImageBytes)
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxImageBytes+1))
	if err != nil {
		return nil, image.Config{}, err
	}
	c, err := k.size(bytes.NewReader(data))
	switch {
	case len(data) > maxImageBytes:
		return nil, c, fmt.Errorf("it is %s of more than %d bytes", k.media, maxImageBytes)
	case err != nil || !k.whole(data):
		return nil, c, fmt.Errorf("it is %s, but broken or cut off", k.media)
	case c.Width > maxImagePixels || c.Height > maxImagePixels || c.Width < 1 || c.Height < 1:
		return nil, c, fmt.Errorf("it is %s of %dx%d pixels; %d a side can be shown", k.media, c.Width, c.Height, maxImagePixels)
	}
	return &tool.Image{MediaType: k.media, Data: data}, c, nil
}

func webpWhole(b []byte) bool {
	return int64(len(b)) >= 8+int64(binary.LittleEndian.Uint32(b[4:8]))
}

// webpConfig reads the size out of a WebP's first chunk: a lossy frame, a
// lossless one, or the extended header.
func webpConfig(r io.Reader) (image.Config, error) {
	b := make([]byte, 30)
	if _, err := io.ReadFull(r, b); err != nil {
		return image.Config{}, err
	}
	at := func(i int) int { return int(binary.LittleEndian.Uint16(b[i:])) }
	switch string(b[12:16]) {
	case "VP8 ":
		if b[23] != 0x9d || b[24] != 0x01 || b[25] != 0x2a {
			break
		}
		return image.Config{Width: at(26) & 0x3fff, Height: at(28) & 0x3fff}, nil
	case "VP8L":
		if b[20] != 0x2f {
			break
		}
		bits := binary.LittleEndian.Uint32(b[21:])
		return image.Config{Width: int(bits&0x3fff) + 1, Height: int(bits>>14&0x3fff) + 1}, nil
	case "VP8X":
		return image.Config{Width: (at(24) | int(b[26])<<16) + 1, Height: (at(27) | int(b[29])<<16) + 1}, nil
	}
	return image.Config{}, errors.New("no WebP header")
}
