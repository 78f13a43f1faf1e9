package keymap

// The actions of the board.
const (
	Play         ID = "play"
	StepForward  ID = "step-forward"
	StepBack     ID = "step-back"
	LeapForward  ID = "leap-forward"
	LeapBack     ID = "leap-back"
	Faster       ID = "faster"
	Slower       ID = "slower"
	Seek         ID = "seek"
	SeekStart    ID = "seek-start"
	SeekEnd      ID = "seek-end"
	Squeeze      ID = "squeeze"
	FocusActive  ID = "focus-active"
	FocusBackoff ID = "focus-backoff"
	FocusUnsched ID = "focus-unschedulable"
	FocusFlight  ID = "focus-in-flight"
	FocusLog     ID = "focus-log"
	NextPane     ID = "next-pane"
	PreviousPane ID = "previous-pane"
	RowDown      ID = "row-down"
	RowUp        ID = "row-up"
	PageDown     ID = "page-down"
	PageUp       ID = "page-up"
	FirstRow     ID = "first-row"
	LastRow      ID = "last-row"
	Open         ID = "open"
	Needs        ID = "needs"
	Zoom         ID = "zoom"
	Filter       ID = "filter"
	CopyMore     ID = "copy-more"
	CopyCommand  ID = "copy-command"
	Siblings     ID = "siblings"
	Timeline     ID = "timeline"
	Lanes        ID = "lanes"
	Plots        ID = "plots"
	Stack        ID = "stack"
	Theme        ID = "theme"
	Projector    ID = "projector"
	Back         ID = "back"
	Sort         ID = "sort"
	ChooseShown  ID = "columns"
	GoToPod      ID = "go-to-pod"
	GoToLongest  ID = "go-to-longest"
	Nodes        ID = "nodes"
	OpenCycle    ID = "cycle"
	ChooseView   ID = "views"
	FirstView    ID = "view-1"
	SecondView   ID = "view-2"
	ThirdView    ID = "view-3"
	FourthView   ID = "view-4"
	Fold         ID = "fold"
	CountGroups  ID = "groups"
	NextAttempt  ID = "next-attempt"
	LastAttempt  ID = "attempt-before"
	SecondOn     ID = "second-on"
	SecondBack   ID = "second-back"
	PodOn        ID = "pod-move-on"
	PodBack      ID = "pod-move-back"
	Until        ID = "run-until"
	BackUntil    ID = "run-back-until"
	SetMark      ID = "set-mark"
	GoToMark     ID = "go-to-mark"
	NextMark     ID = "next-mark"
	LastMark     ID = "mark-before"
	StopAtMarks  ID = "stop-at-marks"
	Palette      ID = "palette"
	Undo         ID = "undo"
	Redo         ID = "redo"
	Branch       ID = "branch"
	Forks        ID = "what-ifs"
	NameFork     ID = "name-what-if"
	TimeZone     ID = "time-zone"
	Manifest     ID = "manifest"
	CloseFork    ID = "close-what-if"
	Compare      ID = "compare"
	Outcome      ID = "outcome"
	MoveAll      ID = "move-all"
	Activate     ID = "activate"
	InjectEvent  ID = "inject-event"
	AddPod       ID = "add-pod"
	DeletePod    ID = "delete-pod"
	OpenGate     ID = "open-gate"
	FlushBackoff ID = "flush-backoff"
	FlushLeft    ID = "flush-leftover"
	WhatIf       ID = "what-if"
	RunScheduler ID = "run-scheduler"
	AddNode      ID = "add-node"
	EditNode     ID = "edit-node"
	Apply        ID = "apply"
	BindClaim    ID = "bind-claim"
	Delete       ID = "delete"
	Pop          ID = "pop"
	Fits         ID = "fits"
	Reject       ID = "reject"
	Recordings   ID = "recordings"
	Beside       ID = "beside"
	Rerun        ID = "rerun"
	Mouse        ID = "mouse"
	Messages     ID = "messages"
	Save         ID = "save"
	Commands     ID = "commands"
	Help         ID = "help"
	Suspend      ID = "suspend"
	Quit         ID = "quit"
)

// The actions of a chart.
const (
	ChartEarlier ID = "chart-earlier"
	ChartLater   ID = "chart-later"
	ChartCloser  ID = "chart-closer"
	ChartFarther ID = "chart-farther"
	ChartFit     ID = "chart-fit"
)

// The actions of the page of a scheduling cycle.
const (
	CycleNextPoint  ID = "cycle-next-point"
	CycleLastPoint  ID = "cycle-point-before"
	CycleNextColumn ID = "cycle-next-column"
	CycleLastColumn ID = "cycle-column-before"
	CycleChange     ID = "cycle-change"
	CycleAll        ID = "cycle-all-rejections"
)

// The actions of two sessions side by side.
const (
	OtherSide ID = "other-side"
	Alignment ID = "alignment"
)

// The actions of a lesson, and the answers to its questions.
const (
	LessonNext     ID = "lesson-next"
	LessonBack     ID = "lesson-back"
	LessonWhy      ID = "lesson-why"
	LessonHint     ID = "lesson-hint"
	LessonSolution ID = "lesson-solution"
	LessonSteps    ID = "lesson-steps"
	LessonRestart  ID = "lesson-restart"
	LessonBlank    ID = "lesson-blank"
	Lessons        ID = "lessons"
	AnswerQueue    ID = "answer-queue"
	AnswerChoice   ID = "answer-choice"
)

// The actions of a list.
const (
	ListDown     ID = "list-down"
	ListUp       ID = "list-up"
	ListPageDown ID = "list-page-down"
	ListPageUp   ID = "list-page-up"
	ListFirst    ID = "list-first"
	ListLast     ID = "list-last"
	ListSearch   ID = "list-search"
	ListMark     ID = "list-mark"
	ListChoose   ID = "list-choose"
	ListErase    ID = "list-erase"
	ListClear    ID = "list-clear"
	ListClose    ID = "list-close"
)

// The actions of a prompt.
const (
	PromptAccept ID = "prompt-accept"
	PromptCancel ID = "prompt-cancel"
	PromptNext   ID = "prompt-next"
	PromptBefore ID = "prompt-before"
	PromptOlder  ID = "prompt-older"
	PromptNewer  ID = "prompt-newer"
)

// The action of the popup after a leader.
const PopupClose ID = "popup-close"

// Default returns the built-in bindings in the order of help, bar and docs.
func Default() []Binding {
	var all []Binding
	add := func(context Context, group Group, bindings []Binding) {
		for _, b := range bindings {
			b.Context, b.Group = context, group
			all = append(all, b)
		}
	}
	add(Board, Time, boardTime())
	add(Board, Look, boardLook())
	add(Board, Inject, boardInject())
	add(Board, Ask, boardAsk())
	add(Board, Scheduler, boardScheduler())
	add(Board, Program, boardProgram())
	add(Chart, InChart, chartInChart())
	add(Cycle, InCycle, cycleInCycle())
	add(Sides, InSides, sidesInSides())
	add(Lesson, InLesson, lessonInLesson())
	add(Question, InLesson, questionInLesson())
	add(List, InList, listInList())
	add(Prompt, InPrompt, promptInPrompt())
	add(Popup, InPopup, popupInPopup())
	return all
}

func boardTime() []Binding {
	return []Binding{
		{ID: Play, Keys: []string{"space"}, Name: "play/pause", Bar: 4,
			Description: "Start or stop playback."},
		{ID: StepForward, Keys: []string{".", "right"}, Name: "step", Bar: 5,
			Description: "Pause and go one move forward."},
		{ID: StepBack, Keys: []string{",", "left"}, Name: "back", Bar: 10,
			Description: "Pause and go one move back."},
		{ID: LeapForward, Keys: []string{"shift+right"}, Name: "10 moves forward",
			Description: "Pause and go ten moves forward."},
		{ID: LeapBack, Keys: []string{"shift+left"}, Name: "10 moves back",
			Description: "Pause and go ten moves back."},
		{ID: NextAttempt, Keys: []string{"i"}, Name: "next attempt",
			Description: "Pause and go to the start of the next attempt of any pod."},
		{ID: LastAttempt, Keys: []string{"g i"}, Name: "previous attempt",
			Description: "Pause and go back to the start of the previous attempt."},
		{ID: SecondOn, Keys: []string{"ctrl+right", "alt+right"}, Name: "1 s forward",
			Description: "Pause and go one second forward."},
		{ID: SecondBack, Keys: []string{"ctrl+left", "alt+left"}, Name: "1 s back",
			Description: "Pause and go one second back."},
		{ID: PodOn, Keys: []string{"J"}, Name: "pod's next move",
			Description: "Pause and go to the next move of the selected pod."},
		{ID: PodBack, Keys: []string{"K"}, Name: "pod's last move",
			Description: "Pause and go back to the previous move of the selected pod."},
		{ID: Until, Keys: []string{"U"}, Name: "run until",
			Description: "Run until a condition is met: web-1 enters backoff, active > 100, event NodeAdd, mark."},
		{ID: BackUntil, Keys: []string{"g b"}, Name: "run back until",
			Description: "Go back to where a condition was last met."},
		{ID: Faster, Keys: []string{"]"}, Name: "faster",
			Description: "Play faster: 1x, 2x, 5x, 10x and so on."},
		{ID: Slower, Keys: []string{"["}, Name: "slower",
			Description: "Play slower."},
		{ID: Seek, Keys: []string{"t"}, Name: "go to time", Bar: 12,
			Description: "Go to a time: hh:mm:ss, +30s, -1m, start or end."},
		{ID: SeekStart, Keys: []string{"g s"}, Name: "to the start",
			Description: "Go to the start; in a what-if, to where it left the recording."},
		{ID: SeekEnd, Keys: []string{"g e"}, Name: "to the end",
			Description: "Go to the end: the scheduler's if its log has it, then the recording's. In a what-if, go to the last moment played."},
		{ID: Squeeze, Name: "skip quiet time",
			Description: "Skip quiet time during playback, or stop skipping it. The screen shows what was skipped."},
		{ID: SetMark, Keys: []string{"m"}, Name: "mark",
			Description: "Name the current moment. An empty name removes the mark."},
		{ID: GoToMark, Keys: []string{"g m"}, Name: "marks",
			Description: "Choose a mark and go there: one of yours or of the recording."},
		{ID: NextMark, Keys: []string{"g n"}, Name: "next mark",
			Description: "Go to the next mark."},
		{ID: LastMark, Keys: []string{"g N"}, Name: "previous mark",
			Description: "Go back to the previous mark."},
		{ID: StopAtMarks, Name: "stop at marks",
			Description: "Stop playback at every mark, or play past them."},
	}
}

func boardLook() []Binding {
	return []Binding{
		{ID: FocusActive, Keys: []string{"1"}, Name: "activeQ",
			Description: "Go to activeQ: pods ready to be popped."},
		{ID: FocusBackoff, Keys: []string{"2"}, Name: "backoffQ",
			Description: "Go to backoffQ: pods waiting for the end of their backoff."},
		{ID: FocusUnsched, Keys: []string{"3"}, Name: "unschedulable",
			Description: "Go to the unschedulable pods, with the gated ones below."},
		{ID: FocusFlight, Keys: []string{"4"}, Name: "in-flight",
			Description: "Go to the pods in flight: popped and being scheduled or bound."},
		{ID: FocusLog, Keys: []string{"5"}, Name: "log",
			Description: "Go to the log of moves."},
		{ID: NextPane, Keys: []string{"tab"}, Name: "next pane", Bar: 10,
			Description: "Go to the next pane."},
		{ID: PreviousPane, Keys: []string{"shift+tab"}, Name: "previous pane",
			Description: "Go to the previous pane."},
		{ID: RowDown, Keys: []string{"j", "down"}, Name: "select", Bar: 7,
			Description: "Select the next pod or move. On a page of text: scroll down."},
		{ID: RowUp, Keys: []string{"k", "up"}, Name: "select up",
			Description: "Select the previous pod or move. On a page of text: scroll up."},
		{ID: PageDown, Keys: []string{"pgdown", "ctrl+d"}, Name: "page down",
			Description: "Go down one page."},
		{ID: PageUp, Keys: []string{"pgup", "ctrl+u"}, Name: "page up",
			Description: "Go up one page."},
		{ID: FirstRow, Keys: []string{"g g", "home"}, Name: "first row",
			Description: "Select the first pod or move."},
		{ID: LastRow, Keys: []string{"G", "end"}, Name: "last row",
			Description: "Select the last pod or move; in the log, follow new moves again."},
		{ID: Open, Keys: []string{"enter", "d"}, Name: "why?", Bar: 7,
			Description: "Explain the selected pod: why it waits, until when, and its moves. In the log or a timeline: go to the moment of the selected move. In the lanes: draw the selected pod's timeline. On the page of siblings: compare with the next one."},
		{ID: Needs, Keys: []string{"v n"}, Name: "nearest nodes",
			Description: "Show the nodes that the selected pod fits at this moment, and what it lacks on the nearest ones. Its explanation includes this too, except in large clusters."},
		{ID: Zoom, Keys: []string{"z"}, Name: "zoom pane",
			Description: "Expand the pane to the whole screen, or restore it."},
		{ID: Filter, Keys: []string{"/"}, Name: "filter", Bar: 8,
			Description: "Show only pods that match: words, !not, /regex/, ~fuzzy, -l app=web, ns:shop, plugin:Taint, tier:backoff, attempts>3, prio>=100, waiting>5m."},
		{ID: Sort, Keys: []string{"v o"}, Name: "sort",
			Description: "Choose the sort order of the pane. Choose the same order again to reverse it."},
		{ID: ChooseShown, Keys: []string{"v c"}, Name: "columns",
			Description: "Choose the columns of the pane and their order. Click a heading to sort by it, and again to reverse."},
		{ID: GoToPod, Keys: []string{"g p"}, Name: "go to pod",
			Description: "Go to a pod by its name or part of it, bound pods included. Without a name: go to the pod that has waited longest."},
		{ID: GoToLongest, Keys: []string{"g l"}, Name: "longest waiting",
			Description: "Go to the pod that has waited longest."},
		{ID: Nodes, Keys: []string{"n"}, Name: "nodes", Bar: 11,
			Description: "Show the nodes: free resources, taints, conditions, the pods on each, and what the selected pod lacks there, nearest first."},
		{ID: OpenCycle, Keys: []string{"C"}, Name: "why this node?",
			Description: "Open the scheduling cycle of the selected pod, extension point by extension point: which nodes fit, their scores by plugin, and why it got its node."},
		{ID: ChooseView, Keys: []string{"v v"}, Name: "views",
			Description: "Choose one of your configured views: filter, columns, order and pane."},
		{ID: FirstView, Keys: []string{"v 1"}, Name: "your first view",
			Description: "Show your first view."},
		{ID: SecondView, Keys: []string{"v 2"}, Name: "your second view", Description: "Show your second view."},
		{ID: ThirdView, Keys: []string{"v 3"}, Name: "your third view", Description: "Show your third view."},
		{ID: FourthView, Keys: []string{"v 4"}, Name: "your fourth view", Description: "Show your fourth view."},
		{ID: Fold, Keys: []string{"v f"}, Name: "unfold",
			Description: "Show each pod of the selected pod's pod group in its own row, or the whole group in one."},
		{ID: CountGroups, Keys: []string{"v g"}, Name: "groups",
			Description: "Count the pods by plugin, namespace and owner, and show the pods of one group."},
		{ID: Manifest, Keys: []string{"y"}, Name: "manifest",
			Description: "Show the selected pod's last known object as YAML."},
		{ID: CopyMore, Keys: []string{"c"}, Name: "copy ...",
			Description: "Choose what to copy, the name first: the row, the explanation, the moves, or a schedq or kubectl command for the selected pod."},
		{ID: Siblings, Keys: []string{"v d"}, Name: "siblings",
			Description: "Compare the selected pod with a sibling, a pod of the same owner: what differs in what scheduling reads, and at which move they parted."},
		{ID: Timeline, Keys: []string{"v t"}, Name: "timeline",
			Description: "Draw the selected pod's life to scale: each tier it was in, its attempts, what woke it, and why it moved."},
		{ID: Lanes, Keys: []string{"v l"}, Name: "lanes",
			Description: "Draw the timelines of all pods, one below the other."},
		{ID: Plots, Keys: []string{"v p"}, Name: "plots",
			Description: "Plot tier sizes, attempts, arrivals by event and the age of the oldest pod, next to the scheduler's own counts."},
		{ID: Stack, Keys: []string{"v s"}, Name: "stack",
			Description: "Plot the number of waiting pods over time, stacked by tier."},
		{ID: Back, Keys: []string{"esc"}, Name: "close", Bar: 13,
			Description: "Close what is open; with nothing open, clear the filter."},
	}
}

func boardInject() []Binding {
	return []Binding{
		{ID: WhatIf, Keys: []string{"w"}, Name: "what-if", Bar: 9,
			Description: "Start a what-if here: playback stops and you make the scheduling decisions. In a what-if: go back to the recording."},
		{ID: InjectEvent, Keys: []string{"e e"}, Name: "event",
			Description: "Choose a cluster event, a move request or a flush by what it would move, and inject it."},
		{ID: MoveAll, Keys: []string{"e m"}, Name: "move request",
			Description: "Inject a move request for all unschedulable and gated pods, whatever rejected them."},
		{ID: Undo, Keys: []string{"u"}, Name: "undo",
			Description: "Undo the last injection of the what-if, and go to its moment."},
		{ID: Redo, Keys: []string{"W y"}, Name: "redo",
			Description: "Redo the last undone injection."},
		{ID: Branch, Keys: []string{"W b"}, Name: "another what-if",
			Description: "Branch off another what-if here; both are kept."},
		{ID: Forks, Keys: []string{"W l"}, Name: "what-ifs",
			Description: "Choose the recording or a what-if, by what was done in it, and go there."},
		{ID: NameFork, Keys: []string{"W n"}, Name: "name what-if",
			Description: "Name the what-if."},
		{ID: CloseFork, Keys: []string{"W x"}, Name: "close what-if",
			Description: "Discard this what-if and go back to the recording."},
		{ID: Compare, Keys: []string{"W c"}, Name: "compare",
			Description: "Compare with another what-if or the recording: the sizes of both, and the pods that are in different places."},
		{ID: Outcome, Keys: []string{"W r"}, Name: "result",
			Description: "Go to the result of the last what-if change: every node and pod it affects. The panel stays until you close it."},
		{ID: Activate, Keys: []string{"e a"}, Name: "activate",
			Description: "Activate the selected pod: it goes to activeQ at once."},
		{ID: AddPod, Keys: []string{"e n"}, Name: "new pod",
			Description: "Add a pod: type a name, and optionally a priority and the word gated."},
		{ID: DeletePod, Keys: []string{"e d"}, Name: "delete pod",
			Description: "Delete the selected pod."},
		{ID: OpenGate, Keys: []string{"e o"}, Name: "open gate",
			Description: "Remove the scheduling gates of the selected pod."},
		{ID: FlushBackoff, Keys: []string{"e b"}, Name: "flush backoffQ",
			Description: "Flush backoffQ: pods whose backoff is over go to activeQ."},
		{ID: FlushLeft, Keys: []string{"e u"}, Name: "flush leftover",
			Description: "Flush leftovers: pods that have been unschedulable for too long are tried again."},
	}
}

func boardAsk() []Binding {
	return []Binding{
		{ID: RunScheduler, Keys: []string{"s"}, Name: "scheduler",
			Description: "Let a local kube-scheduler make the decisions in the what-if. Press again to make them yourself."},
		{ID: AddNode, Keys: []string{"e l"}, Name: "node like",
			Description: "Add a copy of a node, and see which pods it takes."},
		{ID: EditNode, Keys: []string{"e t"}, Name: "edit node",
			Description: "Change a node's taints and labels in kubectl syntax, cordon or uncordon it, and see what moves."},
		{ID: Apply, Keys: []string{"e y"}, Name: "apply",
			Description: "Apply a manifest, like kubectl apply -f; workloads become their pods. See which are bound."},
		{ID: BindClaim, Keys: []string{"e c"}, Name: "bind claim",
			Description: "Bind a volume claim to a free or a new volume, and see which pods it unblocks."},
		{ID: Delete, Keys: []string{"e x"}, Name: "delete",
			Description: "Delete a pod, waiting or running, or a node, and see which pods that helps."},
	}
}

func boardScheduler() []Binding {
	return []Binding{
		{ID: Pop, Keys: []string{"p"}, Name: "pop", Bar: 1,
			Description: "Pop the next pod, like the scheduling loop. It is in flight until you decide."},
		{ID: Fits, Keys: []string{"f"}, Name: "it fits", Bar: 2,
			Description: "Decide that the pod in flight fits: it is bound and leaves the queue."},
		{ID: Reject, Keys: []string{"x"}, Name: "reject", Bar: 3,
			Description: "Decide that the pod in flight does not fit: choose the plugins that reject it, or an error."},
	}
}

func boardProgram() []Binding {
	return []Binding{
		{ID: Recordings, Keys: []string{"o r"}, Name: "recordings",
			Description: "Open another recording (built in, yours, or from files) or a cluster of your kubeconfig."},
		{ID: Beside, Keys: []string{"o b"}, Name: "side by side",
			Description: "Show another recording or cluster next to this one, at the same moment. With two shown: show only the first again."},
		{ID: Rerun, Keys: []string{"o a"}, Name: "run again",
			Description: "Run the recording again under another release of kube-scheduler, and compare."},
		{ID: Theme, Keys: []string{"o t"}, Name: "theme",
			Description: "Switch to the next theme: by the terminal's background, dark, light, high contrast, colour-blind, none."},
		{ID: TimeZone, Keys: []string{"o z"}, Name: "time zone",
			Description: "Show times of day in UTC, or in the configured zone or else this machine's."},
		{ID: Projector, Keys: []string{"o p"}, Name: "projector",
			Description: "Draw for a projector: large counts, bold text, gaps between rows, and the pressed key."},
		{ID: Mouse, Keys: []string{"o u"}, Name: "mouse on/off",
			Description: "Turn the mouse on (click selects, wheel scrolls), or off, so that the terminal can select text."},
		{ID: Messages, Keys: []string{"o m"}, Name: "messages",
			Description: "Show past messages, newest first, and open what they are about."},
		{ID: CopyCommand, Keys: []string{"o c"}, Name: "copy command",
			Description: "Copy the schedq command that explains the selected pod at this moment."},
		{ID: Save, Keys: []string{"o s"}, Name: "save ...",
			Description: "Save to a file: the screen as a picture (SVG) or text, the pods as a table (CSV, JSON), or minutes of the recording as a scenario."},
		{ID: Commands, Keys: []string{"o x"}, Name: "commands",
			Description: "Run one of your configured commands for the selected pod: kubectl describe, k9s, a pager."},
		{ID: Palette, Keys: []string{":", "ctrl+p"}, Name: "palette", Bar: 89,
			Description: "Choose an action by name; unavailable actions say why."},
		{ID: Help, Keys: []string{"?"}, Name: "help", Bar: 90,
			Description: "Show every key and the meaning of the glyphs; type to search, and run what you find."},
		{ID: Suspend, Keys: []string{"ctrl+z"}, Name: "suspend",
			Description: "Suspend to the shell; fg returns."},
		{ID: Quit, Keys: []string{"q", "ctrl+c"}, Name: "quit", Bar: 91,
			Description: "Quit schedq."},
	}
}

func chartInChart() []Binding {
	return []Binding{
		{ID: ChartEarlier, Keys: []string{"left", "h"}, Name: "earlier", Bar: 1, Description: "Show earlier times. The board does not move."},
		{ID: ChartLater, Keys: []string{"right"}, Name: "later", Bar: 2, Description: "Show later times, up to the moment shown on the board."},
		{ID: ChartCloser, Keys: []string{"+", "="}, Name: "closer", Bar: 3, Description: "Show less time in more detail."},
		{ID: ChartFarther, Keys: []string{"-"}, Name: "farther", Bar: 4, Description: "Show more time in less detail."},
		{ID: ChartFit, Keys: []string{"0"}, Name: "fit", Bar: 5, Description: "Fit the scale to the data, and follow the current moment again."},
	}
}

func cycleInCycle() []Binding {
	return []Binding{
		{ID: CycleNextPoint, Keys: []string{"tab"}, Name: "next point", Bar: 1, Description: "Go to the next extension point: PreFilter, Filter, PostFilter, Score and so on."},
		{ID: CycleLastPoint, Keys: []string{"shift+tab"}, Name: "previous point", Description: "Go back to the previous extension point."},
		{ID: CycleNextColumn, Keys: []string{"right", "l"}, Name: "sort by", Bar: 2, Description: "Sort the nodes by the next plugin's score."},
		{ID: CycleLastColumn, Keys: []string{"left", "h"}, Name: "sort by previous", Description: "Sort the nodes by the previous plugin's score, or by the total."},
		{ID: CycleChange, Keys: []string{"w"}, Name: "what would change it?", Bar: 3, Description: "Run the cycle again with another weight, another scoring strategy, or a changed node. Choose the first entry to go back."},
		{ID: CycleAll, Keys: []string{"a"}, Name: "all rejections", Bar: 4, Description: "Show every plugin that rejects a node, not only the first."},
	}
}

func sidesInSides() []Binding {
	return []Binding{
		{ID: OtherSide, Keys: []string{"tab"}, Name: "other side", Bar: 1, Description: "Go to the other side. Keys apply to it, and the first side follows its time."},
		{ID: Alignment, Keys: []string{"a"}, Name: "align", Bar: 2, Description: "Align the two sides by time since their start or by time of day, or let each keep its own time."},
	}
}

func lessonInLesson() []Binding {
	return []Binding{
		{ID: LessonNext, Keys: []string{"enter", "pgdown"}, Name: "next", Bar: 1,
			Description: "Go on: to the next step, or past a question to see what happens. After the last step: the next lesson."},
		{ID: LessonBack, Keys: []string{"pgup", "-"}, Name: "step back", Bar: 6,
			Description: "Go back to the previous step, or take back the last answer while you can still change it."},
		{ID: LessonWhy, Keys: []string{"y"}, Name: "why?", Bar: 5,
			Description: "Explain the selected pod, as on the board."},
		{ID: LessonHint, Keys: []string{"h"}, Name: "hint", Bar: 2,
			Description: "Show a hint; press again for another."},
		{ID: LessonSolution, Keys: []string{"H"}, Name: "solution", Bar: 3,
			Description: "Show how to reach the goal, without doing it."},
		{ID: LessonSteps, Keys: []string{"l"}, Name: "steps", Bar: 7,
			Description: "Show all steps of the lesson, and go to one."},
		{ID: LessonRestart, Keys: []string{"f5"}, Name: "restart",
			Description: "Go to the first step and restart the timer."},
		{ID: LessonBlank, Keys: []string{"."}, Name: "blank",
			Description: "In projector mode: blank the screen, or bring it back. Otherwise the key works as on the board."},
		{ID: Lessons, Keys: []string{"L"}, Name: "lessons", Bar: 8,
			Description: "Choose another lesson."},
	}
}

func questionInLesson() []Binding {
	return []Binding{
		{ID: AnswerQueue, Keys: []string{"1", "2", "3", "4", "5", "6", "7"}, Name: "queue",
			Description: "Answer with a tier: 1 activeQ, 2 backoffQ, 3 unschedulable, 4 in-flight, 5 bound, 6 gated, 7 deleted."},
		{ID: AnswerChoice, Keys: []string{"a", "b", "c", "d", "e", "f"}, Name: "answer",
			Description: "Answer with the choice of that letter. You can change it until time goes on."},
	}
}

func listInList() []Binding {
	return []Binding{
		{ID: ListDown, Keys: []string{"j", "down", "ctrl+n"}, Name: "down", Bar: 4, Description: "Go to the next entry. During a search letters are typed, and the other keys move."},
		{ID: ListUp, Keys: []string{"k", "up", "ctrl+p"}, Name: "up", Bar: 5, Description: "Go to the previous entry."},
		{ID: ListPageDown, Keys: []string{"pgdown"}, Name: "page down", Description: "Go down one page."},
		{ID: ListPageUp, Keys: []string{"pgup"}, Name: "page up", Description: "Go up one page."},
		{ID: ListFirst, Keys: []string{"g", "home"}, Name: "first", Description: "Go to the first entry."},
		{ID: ListLast, Keys: []string{"G", "end"}, Name: "last", Description: "Go to the last entry."},
		{ID: ListSearch, Keys: []string{"/"}, Name: "search", Bar: 6, Description: "Search: type words. The palette and the help search at once."},
		{ID: ListMark, Keys: []string{"space", "tab"}, Name: "mark", Bar: 2,
			Description: "Mark the entry where you can choose several."},
		{ID: ListChoose, Keys: []string{"enter"}, Name: "choose", Bar: 1, Description: "Choose the entry, or the marked ones."},
		{ID: ListErase, Keys: []string{"backspace"}, Name: "erase", Bar: 7, Description: "Delete the last letter of the search."},
		{ID: ListClear, Keys: []string{"ctrl+u"}, Name: "clear", Description: "Delete the whole search."},
		{ID: ListClose, Keys: []string{"esc", "ctrl+c"}, Name: "close", Bar: 3, Description: "Close the list without choosing, or end the search."},
	}
}

func promptInPrompt() []Binding {
	return []Binding{
		{ID: PromptAccept, Keys: []string{"enter"}, Name: "accept", Bar: 1, Description: "Accept the text."},
		{ID: PromptCancel, Keys: []string{"esc", "ctrl+c"}, Name: "cancel", Bar: 2, Description: "Cancel and discard the text."},
		{ID: PromptNext, Keys: []string{"tab"}, Name: "complete", Bar: 3, Description: "Complete the text; again: use the next match."},
		{ID: PromptBefore, Keys: []string{"shift+tab"}, Name: "previous match", Description: "Use the previous match."},
		{ID: PromptOlder, Keys: []string{"up"}, Name: "earlier", Bar: 4, Description: "Show earlier inputs, newest first."},
		{ID: PromptNewer, Keys: []string{"down"}, Name: "later", Description: "Go back towards the newest input."},
	}
}

func popupInPopup() []Binding {
	return []Binding{
		{ID: PopupClose, Keys: []string{"esc", "ctrl+c"}, Name: "close", Bar: 1, Description: "Close the popup. Its other keys are those of the actions."},
	}
}
