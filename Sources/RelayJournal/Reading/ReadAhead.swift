import RelayCore

/// The pages that are asked for next, most likely, as a value: each is read while its reader still has the page before
/// it on its way.
///
/// A page is given once, and only while it is fresh: so it is as one that was read a moment earlier.
struct ReadAhead {
    private struct Page {
        let request: LogRequest
        let page: LogPage
        let readAt: UInt64
    }
    /// How long a page may wait for its request, in nanoseconds. A reader that goes on does so at once.
    static let freshness: UInt64 = 1_000_000_000
    /// How many pages are kept, and are being read.
    private let limit: Int
    private var pages: [Page] = []
    private var beingRead: [LogRequest] = []

    init(limit: Int) { self.limit = limit }

    /// What is asked for behind a page; nil: nothing is there yet, or the reader wants no more than it got.
    static func next(after page: LogPage, of request: LogRequest) -> LogRequest? {
        let count = page.contents.count
        guard count > 0, count < request.limit, page.through > request.after, page.through < page.head else {
            return nil
        }
        return LogRequest(
            interface: request.interface, names: request.names, after: page.through, limit: request.limit,
            byteLimit: request.byteLimit)
    }

    /// Begins to read; false: it is there, or is being read. `end` follows.
    mutating func begin(_ request: LogRequest) -> Bool {
        if beingRead.contains(request) || pages.contains(where: { $0.request == request }) { return false }
        beingRead.append(request)
        return true
    }
    /// Nil: it could not be read.
    mutating func end(_ request: LogRequest, _ page: LogPage?, at now: UInt64) {
        guard let index = beingRead.firstIndex(of: request) else { return }  // It no longer counts.
        beingRead.remove(at: index)
        guard let page else { return }
        if pages.count >= limit { pages.removeFirst() }
        pages.append(Page(request: request, page: page, readAt: now))
    }
    /// It is about to be there.
    func isBeingRead(_ request: LogRequest) -> Bool { beingRead.contains(request) }
    /// The page that was read for this request; it is given no second time.
    mutating func take(_ request: LogRequest, at now: UInt64) -> LogPage? {
        pages.removeAll { now > $0.readAt + Self.freshness }
        guard let index = pages.firstIndex(where: { $0.request == request }) else { return nil }
        return pages.remove(at: index).page
    }
    /// Other interfaces, or none: what was read no longer counts.
    mutating func removeAll() { (pages, beingRead) = ([], []) }
}
