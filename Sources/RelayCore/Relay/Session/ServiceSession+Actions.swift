/// What a session returns: what to do now.
extension ServiceSession {
    enum Activation: Hashable {
        case ignored
        case connect
    }
    enum Connection: Hashable {
        /// Nobody wants it any more.
        case close
        case askForOwner
    }
    enum ConnectionFailure: Hashable {
        case ignored
        /// After a while; the standing is reported where it has changed.
        case retry(Standing?)
    }
    enum BusLoss: Hashable {
        case ignored
        /// Whatever was known of an owner, and try to connect again.
        case forget(Loss)
    }
    /// Who counted does so no longer.
    struct Loss: Hashable {
        /// How many signals of it are dropped.
        let dropped: Int
        /// To be reported behind what the loss brings about, where it has changed.
        let standing: Standing?
    }
    enum End: Hashable {
        case ignored
        /// For good. So many signals are dropped.
        case end(dropped: Int)
    }
    enum OwnerChange: Hashable {
        case ignored
        /// Nobody has the name, as it was, or as is known now.
        case absent
        case appeared(Candidate)
        /// The former owner is gone, and nobody follows.
        case vanished(Loss)
        case replaced(Loss, by: Candidate)
    }
    /// When the bus is asked again who has the name.
    enum Inquiry: Hashable {
        case ignored
        /// Now.
        case ask
        case order(Pace)
    }
    enum Pace: Hashable {
        /// There was no answer.
        case soon
        /// Somebody waits for something, or nobody has the name.
        case prompt
        /// All is well, as far as is known.
        case leisurely
    }
    /// What follows from the bus's word about the name's owner.
    struct OwnerAnswer: Hashable {
        var change = OwnerChange.ignored
        /// The owner is the same: after a while, what it has not answered is to be asked again; see `recheck`.
        var isToBeRechecked = false
        /// The owner is the same, and messages may have been lost: each stream is to be compared with it.
        var isToBeCompared = false
        var next: Inquiry
    }
    enum Recheck: Hashable {
        case ignored
        case verify(Candidate)
        /// Ask the owner again for what it has not answered.
        case askOwner
    }
    enum Verification {
        case ignored
        /// The owner counts; what it has sent since it took the name comes first, in this order.
        case deliver([Signal])
    }
    /// What to do with a signal.
    enum Verdict: Hashable {
        /// It is not the owner's.
        case drop
        /// It is of an owner that is not verified yet.
        case hold
        case take
    }
    /// Where a call goes now.
    enum CallRoute: Hashable {
        /// The relay was not activated.
        case inactive
        /// The relay has ended.
        case over
        /// There was a bus, which is gone.
        case cutOff
        /// It is not known yet who is to get it.
        case wait
        case owner(String)
        /// Nobody has the name.
        case nobody
    }
}

extension ServiceSession.Verification: Equatable where Signal: Equatable {}
