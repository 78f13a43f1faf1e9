package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue/session/filter"
)

// Filter is the flag --filter. It has the syntax of / on the screen.
type Filter struct {
	// Filter is the parsed value. The zero value matches every pod.
	Filter filter.Filter
}

// String implements pflag.Value.
func (f *Filter) String() string { return f.Filter.String() }

// Type implements pflag.Value.
func (f *Filter) Type() string { return "FILTER" }

// Set implements pflag.Value.
func (f *Filter) Set(text string) error {
	parsed, err := filter.Parse(text)
	f.Filter = parsed
	return err
}

// Register adds the flag to cmd. usage starts its help and ends before "matching FILTER".
func (f *Filter) Register(cmd *cobra.Command, usage string) {
	cmd.Flags().Var(f, "filter", usage+` matching FILTER (same syntax as / on the screen): "ns:shop plugin:Taint attempts>3 !web"`)
	_ = cmd.RegisterFlagCompletionFunc("filter", CompleteFilter)
}

// CompleteFilter offers the fields for the last word of a filter.
func CompleteFilter(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	const more = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	before, last := "", typed
	if i := strings.LastIndexByte(typed, ' '); i >= 0 {
		before, last = typed[:i+1], typed[i+1:]
	}
	not := ""
	if rest, ok := strings.CutPrefix(last, "!"); ok {
		not, last = "!", rest
	}
	var offers []string
	for _, field := range filter.Fields() {
		if strings.HasPrefix(field.Name, last) {
			offers = append(offers, before+not+field.Name+field.Operators[0]+"\t"+field.Help)
		}
	}
	return offers, more
}
