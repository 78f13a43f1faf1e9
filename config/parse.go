package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/theme"
)

// setting is one key of the file. Schema, documentation and parser all use this table.
type setting struct {
	name string
	// says is the description, one sentence. example is a value for the documentation, in YAML.
	says, example string
	schema        map[string]any
	read          func(c *Config, value *yaml.Node) error
}

// settings returns all settings in documentation order.
func settings() []setting {
	return []setting{
		{"theme", "Colours: auto (by the terminal's background), dark, light, high-contrast, colour-blind, none, or one of your themes. NO_COLOR means none.", "auto",
			map[string]any{"type": "string", "examples": theme.All()}, readTheme},
		{"glyphs", "Characters to draw with: ascii for consoles, narrow where symbols may be two cells wide. auto uses the locale and TERM.", "auto",
			map[string]any{"enum": theme.AllGlyphs()}, readGlyphs},
		flag("projector", "Draw for a projector: large counts, bold text, gaps between rows.", "false", func(c *Config) *bool { return &c.Projector }),
		flag("mouse", "Use the mouse; false leaves it to the terminal.", "true", func(c *Config) *bool { return &c.Mouse }),
		flag("bell", "Ring the terminal's bell when a run to a condition (U) stops, and when long work is done.", "false", func(c *Config) *bool { return &c.Bell }),
		flag("notifications", "Raise a desktop notification, while the terminal has no focus, when the selected pod is bound, deleted or rejected by other plugins than before, or a run to a condition (U) stops. The terminal must support OSC 9, 99 or 777.", "false", func(c *Config) *bool { return &c.Notifications }),
		{"time-zone", "Time zone: UTC, as in the scheduler's log, local, or a name like Europe/Berlin.", "UTC",
			map[string]any{"type": "string"}, readZone},
		{"speed", "Playback speed, in model seconds per second.", "1",
			map[string]any{"type": "number", "minimum": session.MinSpeed, "maximum": session.MaxSpeed}, readSpeed},
		flag("paused", "Start paused.", "false", func(c *Config) *bool { return &c.Paused }),
		{"filter", "Initial filter for every source: see docs/reference/filter.md.", `""`,
			map[string]any{"type": "string"}, readFilter},
		flag("remember", "Restore columns and sort order of each source; with start: last, the whole view.", "true", func(c *Config) *bool { return &c.Remember }),
		{"start", "First screen: board, last (how you left the source), or the name of a view.", "board",
			map[string]any{"type": "string"}, readStart},
		{"themes", "Your themes: the theme each is based on, and the colours it changes. See docs/reference/settings.md.", "{}",
			themesSchema(), readThemes},
		{"views", "Your views, on keys v 1 to v 4 and in a list: filter, columns, sort and pane. See docs/reference/settings.md.", "{}",
			viewsSchema(), readViews},
		{"commands", "Your commands for the selected pod, listed under &. They run without a shell. See docs/reference/settings.md.", "{}",
			commandsSchema(), readCommands},
		{"keys", "Your keys, by action; they replace the action's default keys. docs/reference/keys.md names the actions.", "{step-forward: [\".\", right], needs: []}",
			keysSchema(), readKeys},
	}
}

func flag(name, says, example string, of func(*Config) *bool) setting {
	return setting{name, says, example, map[string]any{"type": "boolean"}, func(c *Config, value *yaml.Node) error {
		if value.Tag != "!!bool" {
			return fmt.Errorf("invalid %s %s: use true or false", name, quoted(value))
		}
		return value.Decode(of(c))
	}}
}

// maxMistakes limits how many mistakes of one setting, and of one file, are reported.
const maxMistakes = 20

// Parse parses the content of a configuration file; name appears in errors. It returns all mistakes, joined, together with a
// usable configuration: what has a mistake is as without a file.
func Parse(name string, text []byte) (*Config, error) {
	c := Default()
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return c, syntaxError(name, err)
	}
	if document.Kind == 0 || document.Content[0].Tag == "!!null" {
		return c, nil // nothing is set
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return c, mistake(name, root, errors.New("invalid configuration: use lines like theme: dark"))
	}
	var mistakes []placed
	found := func(node *yaml.Node, err error) { mistakes = append(mistakes, placed{err, node}) }
	at := map[string]*yaml.Node{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if at[key.Value] != nil {
			found(key, fmt.Errorf("duplicate setting %s", sources.Sanitize(key.Value)))
			continue
		}
		at[key.Value] = value
		s := settingOf(key.Value)
		if s == nil {
			found(key, fmt.Errorf("unknown setting %s: use one of %s", quoted(key), strings.Join(settingNames(), ", ")))
			continue
		}
		for range maxMistakes {
			read := *c
			err := s.read(&read, value)
			if err == nil {
				*c = read
				break
			}
			node := value
			if at := (*placed)(nil); errors.As(err, &at) {
				node, err = at.node, at.error
			}
			found(node, err)
			if !dropEntry(value, node) {
				break
			}
		}
	}
	if err := c.checkTheme(); err != nil {
		c.Theme = Default().Theme
		found(at["theme"], err)
	}
	if err := c.checkStart(); err != nil {
		c.Start = Default().Start
		found(at["start"], err)
	}
	slices.SortStableFunc(mistakes, func(a, b placed) int { return a.node.Line - b.node.Line })
	var all []error
	for _, m := range mistakes[:min(len(mistakes), maxMistakes)] {
		all = append(all, mistake(name, m.node, m.error))
	}
	return c, errors.Join(all...)
}

// dropEntry removes the entry of a mapping that contains a node, so that the others can be read. It reports whether there is
// one.
func dropEntry(mapping, node *yaml.Node) bool {
	if mapping.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if contains(mapping.Content[i], node) || contains(mapping.Content[i+1], node) {
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
			return true
		}
	}
	return false
}

// contains reports whether tree contains node.
func contains(tree, node *yaml.Node) bool {
	return tree == node || slices.ContainsFunc(tree.Content, func(child *yaml.Node) bool { return contains(child, node) })
}

// Summary describes the error of Load or Parse in one line: the first mistake, and how many there are.
func Summary(err error) string {
	first, others, _ := strings.Cut(err.Error(), "\n")
	if others == "" {
		return first
	}
	return fmt.Sprintf("%d mistakes (schedq config lists them), first %s", strings.Count(others, "\n")+2, first)
}

// placed is an error at a node within a setting.
type placed struct {
	error
	node *yaml.Node
}

// mistake adds file and line to an error.
func mistake(name string, node *yaml.Node, err error) error {
	return fmt.Errorf("%s, line %d: %w", name, node.Line, err)
}

// yamlLine matches the parser's errors.
var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)

func syntaxError(name string, err error) error {
	first, _, _ := strings.Cut(err.Error(), "\n")
	m := yamlLine.FindStringSubmatch(first)
	if m == nil || m[1] == "" {
		return fmt.Errorf("%s: invalid YAML: %s", name, sources.Sanitize(strings.TrimPrefix(first, "yaml: ")))
	}
	return fmt.Errorf("%s, line %s: invalid YAML: %s", name, m[1], sources.Sanitize(m[2]))
}

func settingOf(name string) *setting {
	for _, s := range settings() {
		if s.name == name {
			return &s
		}
	}
	return nil
}

func settingNames() []string {
	var names []string
	for _, s := range settings() {
		names = append(names, s.name)
	}
	return names
}

// quoted formats a value for an error message.
func quoted(value *yaml.Node) string {
	switch value.Kind {
	case yaml.MappingNode:
		return "(a mapping)"
	case yaml.SequenceNode:
		return "(a list)"
	}
	return strconv.Quote(string(sources.Sanitize(value.Value)))
}

func readGlyphs(c *Config, value *yaml.Node) error {
	if value.Kind != yaml.ScalarNode {
		return fmt.Errorf("invalid glyphs %s: use a word", quoted(value))
	}
	named, err := theme.ParseGlyphs(value.Value)
	c.Glyphs = named
	return err
}

func readZone(c *Config, value *yaml.Node) error {
	if value.Kind != yaml.ScalarNode {
		return fmt.Errorf("invalid time-zone %s: use a word", quoted(value))
	}
	zone, err := words.ParseZone(string(sources.Sanitize(value.Value)))
	c.Zone = zone
	return err
}

func readSpeed(c *Config, value *yaml.Node) error {
	if value.Tag != "!!int" && value.Tag != "!!float" || value.Decode(&c.Speed) != nil ||
		!(c.Speed >= session.MinSpeed && c.Speed <= session.MaxSpeed) { // also rejects NaN
		return fmt.Errorf("invalid speed %s: use a number from %g to %d", quoted(value), session.MinSpeed, session.MaxSpeed)
	}
	return nil
}

func readFilter(c *Config, value *yaml.Node) error {
	if value.Kind != yaml.ScalarNode {
		return fmt.Errorf("invalid filter %s: use text", quoted(value))
	}
	f, err := filter.Parse(value.Value)
	if err != nil {
		return fmt.Errorf("invalid filter %s: %w", quoted(value), err)
	}
	c.Filter = f
	return nil
}

func readKeys(c *Config, value *yaml.Node) error {
	if value.Kind != yaml.MappingNode {
		return fmt.Errorf("invalid keys %s: use actions with their keys, like step-forward: [., right]", quoted(value))
	}
	keys, at := map[keymap.ID][]string{}, map[keymap.ID]*yaml.Node{}
	for i := 0; i+1 < len(value.Content); i += 2 {
		id, given := keymap.ID(value.Content[i].Value), value.Content[i+1]
		var own []string
		switch given.Kind {
		case yaml.ScalarNode:
			if given.Tag != "!!null" {
				own = []string{given.Value}
			}
		case yaml.SequenceNode:
			for _, key := range given.Content {
				if key.Kind != yaml.ScalarNode {
					return &placed{fmt.Errorf("invalid key of %s %s: use a word", sources.Sanitize(string(id)), quoted(key)), key}
				}
				own = append(own, key.Value)
			}
		default:
			return &placed{fmt.Errorf("invalid keys of %s %s: use a list", sources.Sanitize(string(id)), quoted(given)), given}
		}
		if _, twice := keys[id]; twice {
			return &placed{fmt.Errorf("duplicate action %s", sources.Sanitize(string(id))), value.Content[i]}
		}
		keys[id], at[id] = own, value.Content[i]
	}
	bindings, problems := keymap.Override(keymap.Default(), keys)
	if len(problems) > 0 {
		first := problems[0]
		text := fmt.Sprintf("keys of %s: %s", sources.Sanitize(string(first.ID)), sources.Sanitize(first.Text))
		for _, p := range problems[1:] {
			if p.ID == first.ID {
				text += "; " + string(sources.Sanitize(p.Text))
			}
		}
		return &placed{errors.New(text), at[first.ID]}
	}
	c.Bindings = bindings
	return nil
}
