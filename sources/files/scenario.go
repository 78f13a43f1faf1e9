package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/scenario"
)

// readScenario reads a file that was found to be a scenario, line by line as all others: packed or not.
func (f *file) readScenario() error {
	var text bytes.Buffer
	for text.Len() <= 4<<20 { // what is longer is too long for Parse
		line, err := f.reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		text.Write(line)
		text.WriteByte('\n')
	}
	s, err := scenario.Parse(f.reader.Name(), text.Bytes())
	if err != nil {
		return err
	}
	f.scenario, f.part = s, &sources.Part{Format: scenario.Format}
	return nil
}

// scenarioOf returns the recording of a scenario, if one is among the files: then it must be the only one. It is
// nil if there is none.
func scenarioOf(name sources.SafeText, files []*file) (*sources.Recording, error) {
	for _, f := range files {
		if f.scenario == nil {
			continue
		}
		if len(files) > 1 {
			return nil, fmt.Errorf("%s is a scenario, which is played alone", f.reader.Name())
		}
		rec := f.scenario.Recording()
		if rec.Name == "" {
			rec.Name = name
		}
		return rec, nil
	}
	return nil, nil
}
