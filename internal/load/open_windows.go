package load

const noWait = 0
