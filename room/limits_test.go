package room

import "testing"

// TestScreensFitTheirShare: no screen exceeds its share of a session's memory, and every room draws
// a terminal of 80 by 24 in full.
func TestScreensFitTheirShare(t *testing.T) {
	for _, memory := range []int64{256 << 20, 512 << 20, 2 << 30, 64 << 30} {
		limits := DefaultLimits()
		limits.Memory = memory
		for _, size := range [][2]uint32{{80, 24}, {200, 60}, {300, 100}, {1 << 31, 1}, {1, 1 << 31}, {1 << 31, 1 << 31}, {1, 1}} {
			w, h := limits.fit(size[0], size[1])
			if w < 1 || h < 1 || w > maxWidth || h > maxHeight || size[0] <= 80 && size[1] <= 24 && (w != int(size[0]) || h != int(size[1])) {
				t.Errorf("%d MiB: %d×%d is drawn as %d×%d", memory>>20, w, h, size[0], size[1])
			}
			if share := limits.memoryShare() / screenShare; screenMemory(w, h) > max(share, screenMemory(minWidth, minHeight)) {
				t.Errorf("%d MiB: %d×%d takes %d bytes, the share is %d", memory>>20, w, h, screenMemory(w, h), share)
			}
		}
	}
	if w, h := DefaultLimits().fit(200, 60); w != 200 || h != 60 {
		t.Errorf("200×60 is drawn as %d×%d", w, h)
	}
}
