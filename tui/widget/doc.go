// Package widget is what pages and actions are made of: lists and prompts that open above a page, the bar of keys, and
// periods of time, axes and bars that are drawn to scale. A widget knows no pod and no tier.
package widget
