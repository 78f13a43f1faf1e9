package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	queueboard "github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui"
	"github.com/schedq/schedq/tui/board"
)

func readStart(c *Config, value *yaml.Node) error {
	if value.Kind != yaml.ScalarNode || value.Value == "" {
		return fmt.Errorf("invalid start %s: use board, last or the name of a view", quoted(value))
	}
	c.Start = value.Value
	return nil
}

// checkStart returns an error if Start names no view.
func (c *Config) checkStart() error {
	names := []string{tui.StartBoard, tui.StartLast}
	for _, v := range c.Views {
		names = append(names, v.Name)
	}
	if !slices.Contains(names, c.Start) {
		return fmt.Errorf("invalid start %q: use one of %s", sources.Sanitize(c.Start), strings.Join(names, ", "))
	}
	return nil
}

// maxOwnViews limits the number of user-defined views.
const maxOwnViews = 100

func readViews(c *Config, value *yaml.Node) error {
	if value.Kind != yaml.MappingNode {
		return fmt.Errorf("invalid views %s: use a mapping of names to views", quoted(value))
	}
	if len(value.Content)/2 > maxOwnViews {
		return fmt.Errorf("too many views: %d, at most %d", len(value.Content)/2, maxOwnViews)
	}
	c.Views = nil
	for i := 0; i+1 < len(value.Content); i += 2 {
		name, given := value.Content[i], value.Content[i+1]
		v := tui.NamedView{Name: string(sources.Sanitize(name.Value))}
		switch {
		case v.Name == "" || v.Name == tui.StartBoard || v.Name == tui.StartLast:
			return &placed{fmt.Errorf("invalid view name %s: use another name", quoted(name)), name}
		case slices.ContainsFunc(c.Views, func(other tui.NamedView) bool { return other.Name == v.Name }):
			return &placed{fmt.Errorf("duplicate view %s", v.Name), name}
		}
		if err := readView(&v.View, given); err != nil {
			return err
		}
		c.Views = append(c.Views, v)
	}
	return nil
}

// readView reads one view. Its errors carry their position.
func readView(v *tui.View, value *yaml.Node) error {
	if value.Kind != yaml.MappingNode {
		return &placed{fmt.Errorf("invalid view %s: use filter, columns, sort and pane", quoted(value)), value}
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, given := value.Content[i], value.Content[i+1]
		var err error
		switch key.Value {
		case "filter":
			if _, err = filter.Parse(given.Value); err != nil {
				err = fmt.Errorf("invalid filter %s: %w", quoted(given), err)
			}
			v.Filter = given.Value
		case "pane":
			all, _ := board.PaneTitles()
			if !slices.Contains(all, given.Value) {
				err = fmt.Errorf("invalid pane %s: use one of %s", quoted(given), strings.Join(all, ", "))
			}
			v.Pane = given.Value
		case "columns":
			err = readColumns(v, given)
		case "sort":
			err = readSorts(v, given)
		default:
			return &placed{fmt.Errorf("unknown view field %s: use filter, columns, sort and pane", quoted(key)), key}
		}
		if err != nil {
			return &placed{err, given}
		}
	}
	return nil
}

// byPane calls read with the value for each pane.
func byPane(value *yaml.Node, read func(pane string, given *yaml.Node) error) error {
	_, panes := board.PaneTitles()
	if value.Kind != yaml.MappingNode {
		return fmt.Errorf("invalid value %s: use a mapping by pane, like {%s: VALUE}", quoted(value), panes[0])
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		pane := value.Content[i].Value
		if !slices.Contains(panes, pane) {
			return fmt.Errorf("invalid pane %s: only %s have columns", quoted(value.Content[i]), strings.Join(panes, ", "))
		}
		if err := read(pane, value.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func readColumns(v *tui.View, value *yaml.Node) error {
	v.Columns = map[string][]string{}
	return byPane(value, func(pane string, given *yaml.Node) error {
		var names []string
		if err := given.Decode(&names); err != nil {
			return fmt.Errorf("invalid columns of %s %s: use a list of names", pane, quoted(given))
		}
		v.Columns[pane] = names
		return board.CheckColumns(names)
	})
}

func readSorts(v *tui.View, value *yaml.Node) error {
	v.Sorts = map[string]queueboard.Sort{}
	return byPane(value, func(pane string, given *yaml.Node) error {
		by, err := board.SortOf(pane, given.Value)
		v.Sorts[pane] = by
		return err
	})
}

func viewsSchema() map[string]any {
	all, panes := board.PaneTitles()
	columns, sorts := map[string]any{}, map[string]any{}
	var orders []string
	for _, name := range board.ColumnNames() {
		orders = append(orders, name, "-"+name)
	}
	for _, pane := range panes {
		columns[pane] = map[string]any{"type": "array", "items": map[string]any{"enum": board.ColumnNames()}, "uniqueItems": true}
		sorts[pane] = map[string]any{"enum": orders}
	}
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	}
	return map[string]any{"type": "object", "maxProperties": maxOwnViews, "additionalProperties": object(map[string]any{
		"filter": map[string]any{"type": "string"}, "pane": map[string]any{"enum": all},
		"columns": object(columns), "sort": object(sorts),
	})}
}
