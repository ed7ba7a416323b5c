/// What the rings of one relay share: the thread that reads them, and the owner's wait page, on which that thread
/// sleeps.
final class RingTransport: @unchecked Sendable {  // In a turn of the loop only.
    private struct OpenRing: BitwiseCopyable {
        let inlet: Unmanaged<RingInlet>
        let stream: Unmanaged<StreamController>
    }
    /// What every turn of the ring thread looks at. Not `LoopBound`: a look there would cost more than an event. Not
    /// counted: the session keeps its streams, and they keep their inlets.
    @exclusivity(unchecked) private var open: ContiguousArray<OpenRing> = []
    @exclusivity(unchecked) private(set) var thread: RingThread?
    private struct Preparation {
        /// For which owner the wait page is being mapped and sealed, by the owners' count.
        var generation: Int?
        /// Threads that do so, or that an owner does not let go.
        var threads = 0
    }
    private let preparation: LoopBound<Preparation>
    private struct Request {
        let path: String
        let isWanted: @Sendable () -> Bool
        let answered: @Sendable (Result<BusReply, RelayError>) -> Void
    }
    private let pace: LoopBound<RingRequestPace<Request>>

    /// How many records are read in one turn of the ring thread: the loop's thread waits no longer for its own.
    private static let batch = 256
    /// How many threads owners may hold by the lock of a wait page.
    private static let mostPreparing = 4

    /// Whether the owner is asked for rings at all.
    let isUsed: Bool
    let owner: ServiceOwner

    init(isUsed: Bool, _ owner: ServiceOwner) {
        (self.isUsed, self.owner) = (isUsed, owner)
        preparation = LoopBound(Preparation(), on: owner.loop)
        pace = LoopBound(RingRequestPace(), on: owner.loop)
    }
    /// The owner is gone, or the relay has ended. All rings are closed.
    func forgetOwner() {
        thread = nil
        pace.onLoop.forget()
    }

    // MARK: Opening

    /// Asks the owner for a stream's ring, when those that were asked for before are answered.
    ///
    /// - Parameters:
    ///   - isWanted: whether it is still to be asked for, when its turn comes.
    ///   - answered: in a turn; not called for what is not wanted any more.
    func open(
        at path: String, while isWanted: @escaping @Sendable () -> Bool,
        _ answered: @escaping @Sendable (Result<BusReply, RelayError>) -> Void
    ) {
        pace.onLoop.add(Request(path: path, isWanted: isWanted, answered: answered))
        askNext()
    }
    private func askNext() {
        while let request = pace.onLoop.next(where: { $0.isWanted() }) {
            let round = pace.onLoop.round
            owner.ask("OpenRing", at: request.path) { [self] result in
                let counts = pace.onLoop.answered(inRound: round)
                request.answered(result)
                if counts { askNext() }
            }
        }
    }

    // MARK: The thread

    /// In the ring thread's turn: some of what is new in each ring.
    private func read() {
        // By numbers: a copy of the list would be counted. The one behind a ring that ends here has its turn the next
        // time.
        var number = 0
        while number < open.count {
            let ring = open[number]
            ring.stream._withUnsafeGuaranteedRef { stream in
                ring.inlet._withUnsafeGuaranteedRef { $0.drainOrPark(most: Self.batch, stream) }
            }
            number += 1
        }
    }
    func add(_ inlet: RingInlet, _ stream: StreamController) {
        open.append(OpenRing(inlet: .passUnretained(inlet), stream: .passUnretained(stream)))
    }
    func remove(_ inlet: RingInlet) {
        open.removeAll { $0.inlet.toOpaque() == Unmanaged.passUnretained(inlet).toOpaque() }
    }

    // MARK: The wait page

    /// Maps and seals the owner's wait page, on a thread of its own: the file's lock is the owner's, too, and the owner
    /// may hold it for ever. Such a thread is lost until then; there are few.
    ///
    /// - Parameter observer: hears of the end of that, and of each turn of the ring thread.
    func prepare(_ page: ReceivedDescriptor, reportingTo observer: (any StreamObserver)?) throws(RelayError) {
        let generation = owner.generation
        if preparation.onLoop.generation == generation { return }
        guard preparing < Self.mostPreparing else {
            throw RelayError(.unavailable, "\(owner.service) and its former owners hold \(preparing) wait pages")
        }
        do throws(SystemError) {
            try OwnThread.start("relay-page") {
                [weak self, weak observer, loop = owner.loop, spinning = owner.timing.spinning] in
                let result = Result { () throws(RelayError) in try RingWaiter.sealing(page, spinning: spinning) }
                loop.execute { [weak self, weak observer] in
                    if let self, let observer { prepared(result, generation, observer) }
                }
            }
        } catch { throw RelayError(.unavailable, "no thread for a wait page: \(error)", cause: error) }
        preparation.onLoop.threads += 1
        preparation.onLoop.generation = generation
    }
    /// How many threads map and seal a page.
    var preparing: Int { preparation.onLoop.threads }
    private func prepared(_ result: Result<RingWaiter, RelayError>, _ generation: Int, _ observer: any StreamObserver) {
        preparation.onLoop.threads -= 1
        guard owner.generation == generation, owner.isPresent else { return }
        preparation.onLoop.generation = nil
        if case .success(let waiter) = result {
            thread = RingThread(waiter, owner.loop) { [self, observer] in
                read()
                observer.ringsRead()
            }
        }
        observer.pagePrepared(result.map { _ in })
    }
}

/// A ring that is read. In a turn of the loop only.
final class FollowedRing: @unchecked Sendable {  // In a turn of the loop only.
    /// An event, and what its payloads are; not counted, since it is looked up for every record: the ring keeps both.
    struct Kind: BitwiseCopyable {
        let event: Unmanaged<StreamEvent>
        let format: Unmanaged<EventFormat>
    }
    let watch: RingWatch
    let number: Int
    let epoch: UInt64
    let capacity: UInt64
    /// By the ring's numbers of its events.
    let kinds: ContiguousArray<Kind>
    private let kept: [(event: StreamEvent, format: EventFormat)]
    // Exempt from the run-time check of exclusive access, which the turn already grants: it is looked at for every
    // record.
    @exclusivity(unchecked) var reader: RingReader
    /// Was read, and is not to be handled before something else. Its payload is still the reader's.
    @exclusivity(unchecked) var waiting: (kind: Int, stamp: Stamp, isTooLarge: Bool)?
    /// The last that was handled.
    @exclusivity(unchecked) var sequence: UInt64 = 0
    /// Since when it is left alone; nil: it is read.
    @exclusivity(unchecked) var parkedAt: UInt64?
    /// Its last record was read.
    @exclusivity(unchecked) var hasEnded = false
    /// Nothing was read yet.
    @exclusivity(unchecked) var isFresh = true

    /// - Parameter after: the sequence from which it is wanted; nil: what is published from now on.
    init(_ area: RingArea, kinds: [(event: StreamEvent, format: EventFormat)], after: UInt64?) {
        reader = RingReader(area, after: after ?? 0, atTail: after == nil)
        watch = RingWatch(area)
        watch.read(to: reader.position)
        (number, epoch) = (area.header.ringIndex, area.header.epoch)
        kept = kinds
        self.kinds = ContiguousArray(
            kinds.map { Kind(event: .passUnretained($0.event), format: .passUnretained($0.format)) })
        capacity = UInt64(area.header.capacity)
    }
}
