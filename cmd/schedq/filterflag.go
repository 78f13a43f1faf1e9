package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue/session/filter"
)

// filterFlag is --filter: the same language as on the screen.
type filterFlag struct{ filter filter.Filter }

// String implements pflag.Value.
func (f *filterFlag) String() string { return f.filter.String() }

// Type implements pflag.Value.
func (f *filterFlag) Type() string { return "FILTER" }

// Set implements pflag.Value.
func (f *filterFlag) Set(text string) error {
	parsed, err := filter.Parse(text)
	f.filter = parsed
	return err
}

func (f *filterFlag) register(cmd *cobra.Command, does string) {
	cmd.Flags().Var(f, "filter", does+` that match, as with / on the screen: "ns:shop plugin:Taint attempts>3 !web"`)
	_ = cmd.RegisterFlagCompletionFunc("filter", completeFilter)
}

// completeFilter offers the fields for the last word of a filter.
func completeFilter(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
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
			offers = append(offers, before+not+field.Name+field.Operators[0]+"\t"+field.Says)
		}
	}
	return offers, more
}
