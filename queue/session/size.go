package session

// Size is about how many bytes of memory the session holds for itself: the past of the recording as far as it was
// played, and all what-ifs. The recording's own objects, which sessions share, are not counted. It is reckoned from how
// much there is of each thing, which costs next to nothing, and is as new as the newest frame.
func (s *Session) Size() int64 { return s.Frame().size }

func (o *owner) size() int64 {
	n := o.recording.Size()
	for _, t := range o.forks {
		n += t.Size()
	}
	return n
}
