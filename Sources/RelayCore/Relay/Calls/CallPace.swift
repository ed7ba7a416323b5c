/// How long the answers of a service take, as a value: whether a caller's thread does well to wait for one itself.
///
/// A thread that waits in the kernel is woken by the answer. One that goes to sleep is woken by the loop's thread, which
/// was woken by the answer: a second change of threads, which costs about as much as the answer of a short command.
/// Invariant: no thread waits for longer than `limit`.
struct CallPace {
    /// In nanoseconds. More than two changes of threads, also where a service has eight callers at once; far less than a
    /// person notices, or a frame of a display takes.
    static let limit: UInt64 = 1_000_000
    /// Of the last answers, the later ones counting more; in nanoseconds.
    private var usual = limit / 2

    /// How long to wait for an answer; nil: it is not to be expected soon.
    var patience: UInt64? { usual > Self.limit ? nil : Self.limit }
    /// An answer has come, after so many nanoseconds. A single one that takes long proves little.
    mutating func note(_ duration: UInt64) {
        let duration = min(duration, 8 * Self.limit)
        usual = usual - usual / 8 + duration / 8
    }
}
