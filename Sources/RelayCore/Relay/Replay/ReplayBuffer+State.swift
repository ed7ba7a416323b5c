@_spi(Relay) import RelayEvents

/// What comes next.
extension ReplayBuffer.State {
    var hasItems: Bool { !isCancelled && (!queue.isEmpty || hasPage) }
    private var hasPage: Bool { page.map { index < $0.count } ?? false }
    var isOver: Bool { isCancelled || queue.isClosed && !hasItems && !isHeld }

    mutating func take() -> ReplayBuffer.Item? {
        if isCancelled { return nil }
        while true {
            if let page, hasPage {
                index += 1
                return .event(page, index - 1)
            }
            page = nil
            consumer.take()
            switch queue.pop() {
            case .event(let event, _)?: return .event(event, 0)
            case .gap(let gap)?: return .gap(gap)
            case .fixed(.page(let next))?: begin(next)
            case .fixed(.caughtUp)?: return .caughtUp
            case nil: return nil
            }
        }
    }
    mutating func batch() -> (page: KeptEvents, index: Int)? {
        if isCancelled { return nil }
        if !hasPage {
            guard case .page(let next)? = queue.nextFixed, next.isBatch(from: 0) else { return nil }
            consumer.take()
            _ = queue.pop()
            begin(next)
        }
        guard let page, page.isBatch(from: index) else { return nil }
        return (page, index)
    }
    private mutating func begin(_ next: KeptEvents) {
        queuedPages -= 1
        (page, index) = (next, 0)
    }
    /// What was awaited, and is there now: what to call once the lock is released. Asked for after each event.
    mutating func foundRoom() -> (() -> Void)? {
        var room = awaited
        if queuedPages > 0 { room.remove(.page) }
        if room.contains(.signals), queue.eventCount > signalLimit / 2 { room.remove(.signals) }
        if room.isEmpty { return nil }
        awaited.subtract(room)
        return { [room, onRoom] in onRoom(room) }
    }
    /// What to do once the lock is released.
    mutating func news() -> ReplayBuffer.News { ReplayBuffer.News(notification: consumer.notify(), call: onNews) }
}
