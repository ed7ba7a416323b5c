import CSQLite
import Glibc
import RelayCore

/// The threads that read: each on a connection of its own that cannot write, in short transactions, one request at a
/// time.
///
/// A peer has one request at a time here, so that first come, first served is fair among peers. Among reading and
/// committing it is the kernel that is fair: the readers' threads have a low priority, which leaves them what the
/// committing ones do not use, and a tenth of a processor when nothing is left.
final class JournalReader: Sendable {
    enum Request: Sendable {
        case page(LogRequest, @Sendable (Result<LogPage, RelayError>) -> Void)
        case figures(String, CheckedContinuation<[(name: String, value: UInt64)], any Error>)
        case runs(String, RunQuestion, @Sendable (Result<CommonRun?, RelayError>) -> Void)
        case allRuns(
            String, after: UInt64, atMost: Int, @Sendable (Result<[StreamRun]?, RelayError>) -> Void)
    }
    private struct Queue {
        var requests: [Request] = []
        var interfaces: [String: ReadInterface] = [:]
        var ahead = ReadAhead(limit: JournalReader.threadCount)
        /// Of threads that have not begun.
        var pages: [PageReader] = []
        var threads: [pthread_t] = []
        /// Threads that were started and have not ended.
        var running = 0
        var isEnding = false
    }
    private let queue: Monitor<Queue>
    private let file: JournalFile
    /// See setpriority(2).
    private static let niceness: Int32 = 10
    /// One for every two processors, as each is followed by a subscriber's decoding.
    private static var threadCount: Int { max(1, min(4, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2)) }

    init(_ file: JournalFile) throws(SQLiteError) {
        self.file = file
        var pages: [PageReader] = []
        for _ in 0..<Self.threadCount { pages.append(try PageReader(file)) }
        queue = Monitor(Queue(pages: pages))
    }
    /// Starts the threads, which keep this alive until `stop`.
    func start() throws(RelayError) {
        for _ in 0..<Self.threadCount {
            queue.withLock { $0.running += 1 }
            do throws(SystemError) { try OwnThread.start("journal-read") { self.runThread() } } catch {
                queue.withLock { $0.running -= 1 }
                stop()
                throw RelayError(.unavailable, "no thread to read \(file.path): \(error)", cause: error)
            }
        }
    }
    /// From now on these can be asked for.
    func serve(_ interfaces: [String: ReadInterface]) {
        queue.withLock { queue in
            queue.interfaces = interfaces
            queue.ahead.removeAll()
        }
    }

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
    /// Answers what was asked, and ends the threads; returns when the connections are closed, but for the one of the
    /// calling thread.
    func stop() {
        queue.withLock { $0.isEnding = true }
        queue.announce()
        let isOwn = queue.withLock { $0.threads.contains(pthread_self()) }
        _ = queue.wait { $0.running == (isOwn ? 1 : 0) ? true : nil }
        queue.withLock { $0.pages = [] }
    }

    // MARK: The threads

    private func runThread() {
        // Of this thread alone. Without it reading only takes more of the others' time.
        setpriority(Int32(PRIO_PROCESS.rawValue), 0, Self.niceness)
        do {
            let pages = queue.withLock { queue in
                queue.threads.append(pthread_self())
                return queue.pages.popLast()
            }
            while let work = take() {
                if let next = answer(work, pages) { readAhead(next, work.interfaces, pages) }
            }
        }
        queue.withLock { queue in
            queue.threads.removeAll { $0 == pthread_self() }
            queue.running -= 1
        }
        queue.announce()
    }
    /// A request, and its page if it was read ahead.
    private struct Work {
        let request: Request
        let interfaces: [String: ReadInterface]
        let page: LogPage?
    }
    private func take() -> Work? {
        queue.wait { queue -> Work?? in
            // One that another thread is about to have is left to wait for it.
            let index = queue.requests.firstIndex { request in
                if case .page(let request, _) = request { !queue.ahead.isBeingRead(request) } else { true }
            }
            guard let index else { return queue.isEnding && queue.requests.isEmpty ? .some(nil) : nil }
            let request = queue.requests.remove(at: index)
            var page: LogPage?
            if case .page(let wanted, _) = request { page = queue.ahead.take(wanted, at: MonotonicClock.now) }
            return Work(request: request, interfaces: queue.interfaces, page: page)
        } ?? nil
    }
    /// Returns what is asked for next, most likely.
    private func answer(_ work: Work, _ pages: PageReader?) -> LogRequest? {
        let request = work.request
        let name =
            switch request {
            case .page(let request, _): request.interface
            case .figures(let name, _), .runs(let name, _, _), .allRuns(let name, _, _, _): name
            }
        guard let pages, let interface = work.interfaces[name] else {
            refuse(
                request, RelayError(.notFound, "\(file.path) keeps nothing of '\(name)' for a service of this process"))
            return nil
        }
        do {
            switch request {
            case .page(let request, let completion):
                let page = if let page = work.page { page } else { try pages.page(request, interface) }
                completion(.success(page))
                return ReadAhead.next(after: page, of: request)
            case .figures(_, let continuation): continuation.resume(returning: try pages.figures(interface))
            case .runs(_, let question, let completion): completion(.success(try pages.common(question, interface)))
            case .allRuns(_, let after, let limit, let completion):
                completion(.success(try pages.runs(after: after, atMost: limit, interface)))
            }
        } catch {
            let isTooLong = error.primaryCode == SQLITE_TOOBIG
            refuse(
                request,
                isTooLong
                    ? file.damaged("a row is longer than any that the journal writes", cause: error)
                    : error.asRelayError("cannot read \(file.path)"))
        }
        return nil
    }
    /// Reads a page while the one before it is on its way, unless somebody waits. What fails is read once more when it
    /// is asked for, and reported then.
    private func readAhead(_ next: LogRequest, _ interfaces: [String: ReadInterface], _ pages: PageReader?) {
        guard let pages, let interface = interfaces[next.interface] else { return }
        guard queue.withLock({ !$0.isEnding && $0.requests.isEmpty && $0.ahead.begin(next) }) else { return }
        let page = try? pages.page(next, interface)
        queue.withLock { $0.ahead.end(next, page, at: MonotonicClock.now) }
        queue.announce()
    }
    private func refuse(_ request: Request, _ error: RelayError) {
        switch request {
        case .page(_, let completion): completion(.failure(error))
        case .figures(_, let continuation): continuation.resume(throwing: error)
        case .runs(_, _, let completion): completion(.failure(error))
        case .allRuns(_, _, _, let completion): completion(.failure(error))
        }
    }
}
