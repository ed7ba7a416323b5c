/// Wants: which events a stream follows, and from where a name counts that is wanted later.
extension StreamMachine {
    /// What subscribers want has changed.
    ///
    /// A name that was not wanted before gets what comes from now on. Where nobody had the service's name meanwhile it
    /// may get what the last run left unseen, too.
    package mutating func want(_ names: Set<String>?) -> Action {
        let (new, old) = (NameScope(names: names), scope.names)
        let hasGained = names.map { names in old.map { !names.isSubset(of: $0) } ?? false } ?? (old != nil)
        if new == scope.wanted && !(isDurable && hasGained) {
            scope.replaceNames(names)
            return .nothing
        }
        if new == .nothing { return wantNothing() }
        // What a stream begins with is kept until it is first wanted.
        if scope == .nothing { return startAfresh(names, from: anchor) }
        if case (.one, .one) = (scope.answered, new), scope.answered != new {
            return startAfresh(names, from: .nothing(isAwaited: false))
        }
        if isDurable && hasGained { addLateNames(beyond: old) }
        return changeScope(to: names, hasGained: hasGained)
    }
    private mutating func wantNothing() -> Action {
        scope = .nothing
        lateNames.removeAll()
        if case .unowned(_, let isAbsent) = state {
            leave(to: .unowned(.nothing(isAwaited: false), isAbsent: isAbsent))
        } else {
            leave(to: .unwanted(.nothing(isAwaited: false)))
        }
        return .nothing
    }
    private mutating func startAfresh(_ names: Set<String>?, from anchor: Anchor) -> Action {
        lateNames.removeAll()
        scope = StreamScope(names)
        var anchor = anchor
        anchor.isAwaited = false
        switch state {
        case .unowned(_, let isAbsent):
            anchor.isAwaited = isAbsent
            state = .unowned(anchor, isAbsent: isAbsent)
            return .nothing
        case .refused:
            state = .refused(anchor)
            return .nothing
        case .attaching(let attaching): awaitAnswer(from: anchor, lastWord: attaching.lastWord)
        case .unwanted, .joining, .reading, .behind, .live: awaitAnswer(from: anchor)
        }
        return attachAgain()
    }
    private mutating func addLateNames(beyond old: Set<String>?) {
        switch state {
        case .reading(let reading): lateNames.add(beyond: old, through: scope.isAll ? reading.target : nil)
        case .behind(let target): lateNames.add(beyond: old, through: scope.isAll ? target : nil)
        case .joining, .live: if !scope.isAll { lateNames.add(beyond: old, through: nil) }
        case .unowned(_, isAbsent: true): break
        case .unowned, .unwanted, .attaching, .refused: lateNames.add(beyond: old, through: nil)
        }
    }
    /// From one name to more, or the other way round, or from some names to others.
    private mutating func changeScope(to names: Set<String>?, hasGained: Bool) -> Action {
        let (wider, new) = (scope.widened(to: names), StreamScope(names))
        switch state {
        case .unowned, .unwanted: scope = new
        case .refused:
            scope = new
            if !isDurable { state = .refused(.nothing(isAwaited: false)) }
        case .attaching:
            scope = wider ?? new
            // From some names to others, the request is the same.
            return scope.isAll ? .nothing : attachAgain()
        case .joining, .live:
            // All before the position is accounted for: true of each name, too.
            scope = wider ?? new
            return scope.isWidening ? attachAgain() : .nothing
        case .reading(let reading):
            scope = wider ?? new
            // The page under way lacks the new names, and may reach beyond an answer.
            if !scope.isWidening { return hasGained ? read(reading) : .nothing }
            awaitAnswer(from: reached.anchor(), reading.held)
            return attachAgain()
        case .behind:
            scope = wider ?? new
            if !scope.isWidening { return .nothing }
            awaitAnswer(from: reached.anchor(isBehind: true))
            return attachAgain()
        }
        return .nothing
    }
}
