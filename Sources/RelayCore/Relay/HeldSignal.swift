/// A signal of an owner that is not verified yet, copied out of its message.
struct HeldSignal {
    let lane: FollowedLane
    /// Not one of `Stream1`.
    let isEvent: Bool
    let member: String
    let signature: [UInt8]
    let body: [UInt8]
}
