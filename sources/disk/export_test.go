package disk

// GrowInPlace is how files are begun where what is open can't be renamed.
var GrowInPlace = growInPlace
