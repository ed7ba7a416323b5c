@_spi(Relay) import RelayEvents

/// What comes next, and what overflow takes.
extension ReplayBuffer.State {
    var hasItems: Bool {
        !isCancelled
            && (!chunks.isEmpty || run != nil || lost != nil || owesCaughtUp
                || page.map { index < $0.entries.count } ?? false)
    }
    var isOver: Bool { isCancelled || isFinished && !hasItems && !isHeld }

    mutating func take() -> ReplayBuffer.Item? {
        if isCancelled { return nil }
        while true {
            if let present = run {
                run = present.dropFirst
                return .gap(present.first)
            }
            if let page, index < page.entries.count {
                index += 1
                return .event(page, index - 1)
            }
            page = nil
            if let lost {
                (run, self.lost, isBehind) = (lost, nil, true)
                continue
            }
            if owesCaughtUp {
                owesCaughtUp = false
                return .caughtUp
            }
            switch chunks.popFirst() {
            case .page(let next)?:
                if next.isLive { liveEvents -= 1 } else { queuedPages -= 1 }
                (page, index) = (next, 0)
            case .gaps(let next)?: run = next
            case .caughtUp?: return .caughtUp
            case nil: return nil
            }
        }
    }
    mutating func batch() -> (page: ReplayPage, index: Int)? {
        if isCancelled || run != nil { return nil }
        if let page, index < page.entries.count { return page.isBatch(from: index) ? (page, index) : nil }
        guard lost == nil, !owesCaughtUp, case .page(let next)? = chunks.first, next.isBatch(from: 0) else {
            return nil
        }
        _ = chunks.popFirst()
        queuedPages -= 1
        (page, index) = (next, 0)
        return (next, 0)
    }
    mutating func append(_ next: CoalescedGaps) {
        if chunks.isEmpty && lost != nil {
            lost?.append(next)
        } else if chunks.isEmpty && run != nil && !owesCaughtUp {
            run?.append(next)
        } else if case .gaps(var last)? = chunks.last {
            last.append(next)
            chunks.last = .gaps(last)
        } else {
            chunks.append(.gaps(next))
        }
    }
    /// Of a volatile interface, which has no pages.
    mutating func dropOldestSignal() {
        while let chunk = chunks.popFirst() {
            switch chunk {
            case .gaps(let run): lose(run)
            case .caughtUp: owesCaughtUp = true
            case .page(let page):
                liveEvents -= 1
                lose(CoalescedGaps(page.stamp(0)))
                if case .gaps(let next)? = chunks.first {
                    _ = chunks.popFirst()
                    lose(next)
                }
                return
            }
        }
    }
    private mutating func lose(_ next: CoalescedGaps) {
        if lost != nil {
            lost?.append(next)
        } else if run != nil {
            // Its next gap is a neighbour, and was not taken yet.
            run?.append(next)
        } else {
            lost = next
        }
    }

    mutating func takeWaiters() -> [(id: UInt64, continuation: ReplayBuffer.Waiter)] {
        defer { waiters = [] }
        return waiters
    }
    /// What to call once the lock is released.
    mutating func takeNews() -> () -> Void {
        let (waiters, wasIdle, onNews) = (takeWaiters(), isIdle, onNews)
        isIdle = false
        if !waiters.isEmpty || wasIdle && hasAsked { isWoken = true }
        return {
            for waiter in waiters { waiter.continuation.resume() }
            if wasIdle { onNews() }
        }
    }
}
