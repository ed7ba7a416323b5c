import Glibc

/// Writes a line at once: the standard output's own buffer would keep it until the end.
func say(_ words: Any...) {
    let line = Array((words.map { "\($0)" }.joined(separator: " ") + "\n").utf8)
    _ = write(STDOUT_FILENO, line, line.count)
}
