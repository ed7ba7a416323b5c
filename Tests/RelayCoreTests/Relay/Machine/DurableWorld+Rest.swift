@testable import RelayCore

/// How everything comes to rest, and what has to hold then.
extension DurableWorld {
    /// Removes what keeps everything from coming to rest; `finish` goes on from there.
    mutating func beginFinish() {
        _ = apply(.room)
        _ = apply(.reconnect)
        if !isRunning { _ = apply(.start) }
        // A mirror comes to where its origin is, with whom it was to wait for that.
        while apply(.catchUp) {}
        if isClosed {
            settle()
            end()
            begin()
        }
        _ = apply(.bring)
        if isRestricted { drainAndNote() }
    }
    /// What the bus does not say, a relay finds in time.
    private mutating func drainAndNote() {
        if ring != nil, !machine.awaitsAnswer { drain() }
        _ = apply(.note)
    }
    /// Lets everything come to rest, and checks that nothing which was due is missing in silence.
    mutating func finish() {
        settle()
        if ring != nil || isRestricted {
            // What was committed is emitted, and then nothing comes for a while: a ring's reader asks about what it is in doubt of.
            emit(arrives: true)
            if ring == nil && announced != emitted { _ = apply(.head) }
            settle()
            for _ in 0..<3 { _ = apply(.tick) }
            settle()
            checkFacts()
        }
        // Another event comes of each name, and the head.
        let count = facts.count
        for name in DurableJournal.names where NameScope(names: names).includes(name) {
            _ = publish(name, arrives: true)
        }
        // Who reads a ring hears none.
        if ring == nil { _ = apply(.head) }
        settle()
        checkFacts()
        for fact in facts[count...] where isWanted(fact.row.name) && !fact.isDelivered {
            faults.append("the stream is deaf to \(fact.row.name)#\(fact.row.sequence)")
        }
        if !machine.isSettled { faults.append("not settled") }
    }
    private mutating func checkFacts() {
        for fact in facts
        where fact.isDue && !fact.isGone && !fact.isDelivered && !fact.isClaimed && !fact.isHidden
            && isWanted(fact.row.name)
        {
            faults.append("\(fact.row.name)#\(fact.row.sequence) of run \(fact.row.epoch) is missing in silence")
        }
    }
    private mutating func settle() {
        for _ in 0..<24 {
            if isRestricted { drainAndNote() }
            let (hasBrought, hasServed, hasFetched) = (apply(.bring), apply(.serve), apply(.fetch))
            if !hasBrought && !hasServed && !hasFetched { return }
        }
        faults.append("no rest")
    }
}
