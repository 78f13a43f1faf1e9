package command

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/cmd/schedq/metrics"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// NewWatch returns schedq watch.
func NewWatch() *cobra.Command {
	var address cli.Metrics
	var only cli.Filter
	cmd := headless(&cobra.Command{
		Use:     "watch [FILE...]",
		Short:   "Print every move of a pod, one per line",
		Long:    "Print the moves of a recording. Without a FILE, print the moves in a live cluster as they happen.",
		Example: "  schedq watch audit.log.gz sched.log.gz -o json | jq -r 'select(.to==\"backoff\") | .pod'\n  schedq watch --context prod -n training",
	}, func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		if err := address.CheckUnset(); err != nil {
			return err
		}
		out := newMovePrinter(cmd.OutOrStdout(), asJSON)
		opts.Filter = only.Filter
		if _, err := timeline.ReplayWith(cmd.Context(), rec, opts, timeline.ReplayHandlers{Move: out.print, Verdict: out.verdict}); err != nil {
			return err
		}
		return out.flush()
	}, func(cmd *cobra.Command, cluster *kubeFlags, opts timeline.Options, asJSON bool) error {
		opts.Filter = only.Filter
		return watchLive(cmd, cluster, opts, asJSON, &address)
	})
	address.Register(cmd)
	only.Register(cmd, "only print moves that leave the pod")
	return cmd
}

// watchLive prints the moves in a live cluster until the command is stopped.
func watchLive(cmd *cobra.Command, cluster *kubeFlags, opts timeline.Options, asJSON bool, address *cli.Metrics) error {
	listener, err := address.Listen()
	if err != nil {
		return err
	}
	source, err := cluster.Open(cmd)
	if err != nil {
		return err
	}
	figures := metrics.New()
	var failed error // of a verdict's line
	metrics.Serve(cmd.Context(), listener, figures.Gather, nil)
	out := newMovePrinter(cmd.OutOrStdout(), asJSON)
	return timeline.Follow(cmd.Context(), figures.WithCounts(source), opts, timeline.Handlers{
		Move: func(t *board.Transition) error {
			figures.Add(t)
			if !cluster.Shows(t.Pod.Key.Namespace) || !opts.Selects(t) {
				return nil
			}
			return out.print(t)
		},
		Verdict: func(at time.Time, p *board.Pod) {
			figures.AddVerdict(at, p)
			if cluster.Shows(p.Key.Namespace) && (opts.Filter.Empty() || opts.Filter.Match(p.Facts(at))) && failed == nil {
				failed = out.verdict(at, p)
			}
		},
		Unserved: figures.SetUnserved,
		Status:   cli.NewStatusPrinter(cmd.ErrOrStderr()).Print,
		Idle: func(board *board.Board, now time.Time) error {
			if listener != nil {
				figures.SetBoard(board, now)
			}
			return cmp.Or(failed, out.flush())
		},
	})
}

// movePrinter prints moves and verdicts, one per line, through a buffer.
type movePrinter struct {
	out     *bufio.Writer
	print   func(*board.Transition) error
	verdict func(at time.Time, p *board.Pod) error
}

// verdictLine is a verdict as a line of JSON. Verdict is null if it is taken back.
type verdictLine struct {
	Time    time.Time      `json:"time"`
	Pod     string         `json:"pod"`
	Verdict *opinion.Shown `json:"verdict"`
}

func newMovePrinter(w io.Writer, asJSON bool) *movePrinter {
	p := &movePrinter{out: bufio.NewWriterSize(w, 64<<10)}
	if asJSON {
		encoder := cli.NewJSONEncoder(p.out)
		p.print = func(t *board.Transition) error { return encoder.Encode(t) }
		p.verdict = func(at time.Time, pod *board.Pod) error {
			return encoder.Encode(verdictLine{at.UTC(), pod.Key.String(), pod.Opinion.Of(pod.Key, words.Zone{})})
		}
	} else {
		p.print = func(t *board.Transition) error { _, err := fmt.Fprintln(p.out, t); return err }
		p.verdict = func(at time.Time, pod *board.Pod) error {
			said := "no verdict any more"
			if pod.Opinion != nil {
				said = pod.Opinion.Sentence(words.Zone{})
			}
			_, err := fmt.Fprintf(p.out, "%s %s  %s  %s\n", words.Zone{}.Day(at), words.Zone{}.Precise(at), pod.Key, said)
			return err
		}
	}
	return p
}

func (p *movePrinter) flush() error { return cli.OutputError(p.out.Flush()) }
