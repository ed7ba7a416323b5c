/// A writer, a reader that sleeps when there is nothing, and a waker, over a ring of `capacity` records with two words each.
///
/// Steps are those of RecordWriter.write, RingWriter.put, RingReader.fill, RingReader.jump, RingWaiter.wait, RingWaker.wake and
/// WaitPage.wake; a record is its sequence in both words. Waits have no bound here, or it would hide a wake that is lost.
struct RingModel: Hashable {
    enum Failure: Hashable { case torn, asleep }

    // Threads.
    private static let (writer, reader, waker) = (0, 1, 2)
    // Places.
    private static let (intent, tail, flag, claim, words) = (0, 1, 2, 3, 4)

    private enum WriterStep: Hashable { case announce, first, second, publish, fence, look, clear, wake, claim, done }
    private enum ReaderStep: Hashable {
        case tail, first, second, check, jump, land, raise, fence, look, sleep, asleep, lower, done
    }
    private enum WakerStep: Hashable { case idle, release, fence, look, clear, wake, late }

    private var memory: WeakMemory
    private var writing = WriterStep.announce
    private var written = 0
    private var announced = 0
    private var reading = ReaderStep.tail
    private var position = 0
    private var copy = [0, 0]
    /// The tail that a jump goes by.
    private var limit = 0
    private var waking = WakerStep.idle
    private var handed = 0
    private(set) var failure: Failure?
    /// How many were jumped over: for the test to see that laps happen.
    private(set) var skipped = 0

    let records: Int
    let capacity: Int
    /// How many records are announced at once.
    let part: Int
    let hasWaker: Bool
    let missing: RingGuard?

    init(
        records: Int, capacity: Int, part: Int = 1, hasWaker: Bool = false, without missing: RingGuard? = nil
    ) {
        (self.records, self.capacity, self.part) = (records, capacity, part)
        (self.hasWaker, self.missing) = (hasWaker, missing)
        memory = WeakMemory(places: Self.words + 2 * capacity, threads: 3)
    }

    private func has(_ one: RingGuard) -> Bool { missing != one }
    var isDone: Bool { reading == .done }

    /// Every state that one step of one thread leads to. None: nobody can go on.
    func next() -> [RingModel] {
        // With the reader at its end, nothing can go wrong any more.
        if failure != nil || isDone { return [] }
        var all = writerSteps() + readerSteps() + wakerSteps()
        if all.isEmpty, reading == .asleep {
            var end = self
            end.failure = .asleep
            all.append(end)
        }
        return all
    }

    // MARK: Pieces

    private func with(_ memory: WeakMemory, _ change: (inout RingModel) -> Void) -> RingModel {
        var after = self
        after.memory = memory
        change(&after)
        after.memory.forget { [after] in after.users(of: $0) }
        return after
    }
    /// Who may still read or write a place without learning more about it first.
    private func users(of place: Int) -> [Int] {
        // The others' writer knows all of them.
        guard place == Self.flag || place == Self.claim else { return [Self.reader] }
        var users = place == Self.flag ? [Self.reader] : []
        if writing != .done { users.append(Self.writer) }
        // An idle waker learns what the writer knows when pages are handed over.
        if hasWaker, waking != .idle || handed > 0 { users.append(Self.waker) }
        return users
    }
    private func storing(
        _ place: Int, _ value: Int, _ order: WeakMemory.Order = .relaxed, by thread: Int,
        then change: (inout RingModel) -> Void
    ) -> [RingModel] {
        memory.stores(place, value, order, by: thread).map { with($0, change) }
    }
    private func loading(
        _ place: Int, _ order: WeakMemory.Order = .relaxed, by thread: Int, then change: (Int, inout RingModel) -> Void
    ) -> [RingModel] {
        memory.loads(place, order, by: thread).map { value, memory in with(memory) { change(value, &$0) } }
    }
    private func fencing(_ isThere: Bool, by thread: Int, then change: (inout RingModel) -> Void) -> [RingModel] {
        var memory = memory
        if isThere { memory.fullFence(by: thread) }
        return [with(memory, change)]
    }
    private mutating func wakeOne() { if reading == .asleep { reading = .lower } }

    // MARK: The writer

    private func writerSteps() -> [RingModel] {
        let (me, next) = (Self.writer, written + 1)
        let place = Self.words + 2 * (written % capacity)
        switch writing {
        case .done: return []
        case .announce:
            func fenced(_ model: inout RingModel) {
                if has(.releaseFence) { model.memory.releaseFence(by: me) }
                model.writing = .first
            }
            guard has(.intentFirst), next > announced else { return [with(memory, fenced)] }
            let intent = (next + part - 1) / part * part
            return storing(Self.intent, intent, by: me) { model in
                model.announced = intent
                fenced(&model)
            }
        case .first: return storing(place, next, by: me) { $0.writing = .second }
        case .second: return storing(place + 1, next, by: me) { $0.writing = .publish }
        case .publish:
            var models = [self]
            if !has(.intentFirst) { models = storing(Self.intent, next, by: me) { _ in } }
            return models.flatMap { model in
                model.storing(Self.tail, next, has(.tailRelease) ? .release : .relaxed, by: me) { model in
                    model.written = next
                    model.writing = .fence
                }
            }
        case .fence: return fencing(has(.writersFullFence), by: me) { $0.writing = .look }
        case .look:
            return loading(Self.flag, by: me) { value, model in
                if value == 0 {
                    model.goOn()
                } else {
                    model.writing = hasWaker ? .claim : has(.clearBeforeWake) ? .clear : .wake
                }
            }
        case .claim:
            let (wasClaimed, after) = memory.exchanged(Self.claim, 1, by: me)
            return [
                with(after) { model in
                    if wasClaimed == 0 {
                        model.handed += 1
                        model.memory.handOver(from: me, to: Self.waker)
                    }
                    model.goOn()
                }
            ]
        case .clear:
            return storing(Self.flag, 0, by: me) { model in
                if has(.clearBeforeWake) { model.writing = .wake } else { model.goOn() }
            }
        case .wake:
            return [
                with(memory) { model in
                    model.wakeOne()
                    if has(.clearBeforeWake) { model.goOn() } else { model.writing = .clear }
                }
            ]
        }
    }
    private mutating func goOn() { writing = written == records ? .done : .announce }

    // MARK: The reader

    private func readerSteps() -> [RingModel] {
        let me = Self.reader
        let place = Self.words + 2 * (position % capacity)
        switch reading {
        case .done, .asleep: return []
        case .tail:
            return loading(Self.tail, has(.tailAcquire) ? .acquire : .relaxed, by: me) { tail, model in
                model.reading = tail == position ? .raise : tail - position > capacity ? .jump : .first
            }
        case .first:
            return loading(place, by: me) { value, model in
                model.copy[0] = value
                model.reading = .second
            }
        case .second:
            return loading(place + 1, by: me) { value, model in
                model.copy[1] = value
                model.reading = .check
            }
        case .check:
            var fenced = self
            if has(.acquireFence) { fenced.memory.acquireFence(by: me) }
            return fenced.loading(Self.intent, by: me) { intent, model in
                if has(.recheck), intent - position > capacity { model.reading = .jump } else { model.deliver() }
            }
        case .jump:
            return loading(Self.tail, .acquire, by: me) { tail, model in
                model.limit = tail
                model.copy = [0, 0]
                model.reading = .land
            }
        case .land:
            return loading(Self.intent, by: me) { intent, model in
                // The oldest record that is safe; the index tells where it is.
                let safe = has(.jumpWithinTail) ? min(intent - capacity, limit) : intent - capacity
                if safe > position {
                    model.skipped += safe - position
                    model.position = safe
                }
                model.limit = 0
                model.reading = .tail
            }
        case .raise:
            return storing(Self.flag, 1, by: me) { $0.reading = .fence }
        case .fence:
            return fencing(has(.waitersFullFence), by: me) { $0.reading = has(.lookBeforeSleep) ? .look : .sleep }
        case .look:
            return loading(Self.tail, .acquire, by: me) { tail, model in
                model.reading = tail == position ? .sleep : .lower
            }
        case .sleep:
            // The kernel looks at the newest value: a store that precedes a call to wake is out when the call is made.
            let (value, after) = memory.latest(Self.flag, by: me)
            let isUp = value == 1 || !has(.kernelsCompare)
            return [with(after) { $0.reading = isUp ? .asleep : .lower }]
        case .lower: return storing(Self.flag, 0, by: me) { $0.reading = .tail }
        }
    }
    private mutating func deliver() {
        if copy != [position + 1, position + 1] { failure = .torn }
        copy = [0, 0]
        position += 1
        reading = position == records ? .done : .tail
    }

    // MARK: The waker

    private func wakerSteps() -> [RingModel] {
        let me = Self.waker
        let isEarly = has(.claimBeforeLook)
        switch waking {
        case .idle:
            if handed == 0 { return [] }
            return [
                with(memory) { model in
                    model.handed -= 1
                    model.waking = isEarly ? .release : .fence
                }
            ]
        case .release: return storing(Self.claim, 0, .release, by: me) { $0.waking = .fence }
        case .fence: return fencing(has(.wakersFullFence), by: me) { $0.waking = .look }
        case .look:
            return loading(Self.flag, by: me) { value, model in
                model.waking = value != 0 ? .clear : isEarly ? .idle : .late
            }
        case .clear: return storing(Self.flag, 0, by: me) { $0.waking = .wake }
        case .wake:
            return [
                with(memory) { model in
                    model.wakeOne()
                    model.waking = isEarly ? .idle : .late
                }
            ]
        case .late: return storing(Self.claim, 0, .release, by: me) { $0.waking = .idle }
        }
    }
}
