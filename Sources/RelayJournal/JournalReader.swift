import Glibc
import RelayCore
import Synchronization

/// The thread that reads: on a connection of its own that cannot write, in short transactions, one request at a time.
final class JournalReader: @unchecked Sendable {  // `pages` is the thread's.
    enum Request: Sendable {
        case page(LogRequest, @Sendable (Result<LogPage, RelayError>) -> Void)
        case figures(String, CheckedContinuation<[(name: String, value: UInt64)], any Error>)
    }
    private struct Queue {
        var requests: [Request] = []
        var interfaces: [String: ReadInterface] = [:]
        var isEnding = false
        var hasEnded = false
    }
    private let queue = Monitor(Queue())
    private let file: JournalFile
    private let activity: JournalActivity
    private var pages: PageReader?
    /// The commits at the last page behind which there was more; nil when there was none.
    private var commitsAtPage: UInt64?
    /// How long a long replay gives way before its next page, in µs, while units are being committed: what a page costs reader,
    /// bus and subscriber is taken from the publishers where there are few processors.
    private static let pause: UInt32 = 15_000
    private var thread: pthread_t?

    init(_ file: JournalFile, _ activity: JournalActivity) throws(SQLiteError) {
        (self.file, self.activity) = (file, activity)
        pages = try PageReader(file)
    }
    /// Starts the thread, which keeps this alive until `stop`.
    func start() throws(RelayError) {
        do throws(SystemError) { try OwnThread.start("journal-read") { self.runThread() } } catch {
            throw RelayError(.unavailable, "no thread to read \(file.path): \(error)", cause: error)
        }
    }
    /// From now on these can be asked for.
    func serve(_ interfaces: [String: ReadInterface]) { queue.withLock { $0.interfaces = interfaces } }

    func submit(_ request: Request) {
        let isTaken = queue.withLock { queue in
            if !queue.isEnding { queue.requests.append(request) }
            return !queue.isEnding
        }
        if isTaken {
            queue.announce()
        } else {
            refuse(request, RelayError(.unavailable, "the journal \(file.path) is closed"))
        }
    }
    /// Answers what was asked, and ends the thread; returns when the connection is closed, but on the thread itself.
    func stop() {
        queue.withLock { $0.isEnding = true }
        queue.announce()
        if queue.withLock({ _ in thread }) == pthread_self() { return }
        _ = queue.wait { $0.hasEnded ? true : nil }
    }

    // MARK: The thread

    private func runThread() {
        queue.withLock { _ in thread = pthread_self() }
        while let (requests, interfaces) = take() {
            for request in requests { answer(request, interfaces) }
        }
        pages = nil
        queue.withLock { queue in
            thread = nil
            queue.hasEnded = true
        }
        queue.announce()
    }
    private func take() -> ([Request], [String: ReadInterface])? {
        queue.wait { queue -> ([Request], [String: ReadInterface])?? in
            if queue.requests.isEmpty { return queue.isEnding ? .some(nil) : nil }
            defer { queue.requests = [] }
            return (queue.requests, queue.interfaces)
        } ?? nil
    }
    private func answer(_ request: Request, _ interfaces: [String: ReadInterface]) {
        let name =
            switch request {
            case .page(let request, _): request.interface
            case .figures(let name, _): name
            }
        guard let pages, let interface = interfaces[name] else {
            return refuse(
                request, RelayError(.notFound, "\(file.path) keeps nothing of '\(name)' for a service of this process"))
        }
        do {
            switch request {
            case .page(let request, let completion):
                giveWay()
                let page = try pages.page(request, interface)
                commitsAtPage = page.through < page.head ? activity.commits.load(ordering: .relaxed) : nil
                completion(.success(page))
            case .figures(_, let continuation): continuation.resume(returning: try pages.figures(interface))
            }
        } catch {
            refuse(request, error.asRelayError("cannot read \(file.path)"))
        }
    }
    private func giveWay() {
        if let commitsAtPage, activity.commits.load(ordering: .relaxed) != commitsAtPage { usleep(Self.pause) }
    }
    private func refuse(_ request: Request, _ error: RelayError) {
        switch request {
        case .page(_, let completion): completion(.failure(error))
        case .figures(_, let continuation): continuation.resume(throwing: error)
        }
    }
}
