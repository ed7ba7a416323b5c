public import RelayCore
import Synchronization

/// Records the notices of a service or a journal: `EventService(…, onNotice: notices.record)`.
public final class NoticeRecorder: Sendable {
    private let notices = Mutex<[Notice]>([])
    /// Creates an empty recorder.
    public init() {}
    /// All notices so far.
    public var all: [Notice] { notices.withLock { $0 } }
    /// Records a notice.
    ///
    /// - Parameter notice: the notice.
    public func record(_ notice: Notice) { notices.withLock { $0.append(notice) } }
    /// The notices of one kind.
    ///
    /// - Parameter kind: the kind.
    public func all(of kind: Notice.Kind) -> [Notice] { all.filter { $0.kind == kind } }
}
