import Synchronization

/// What a front end shows, in these tests.
final class Screen: Sendable {
    private let kept = Mutex<[String]>([])
    var lines: [String] { kept.withLock { $0 } }
    func show(_ line: String) { kept.withLock { $0.append(line) } }
}
