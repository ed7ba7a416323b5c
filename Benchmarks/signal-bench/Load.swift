/// What the sender of a pair does.
enum Load: Hashable, CustomStringConvertible {
    /// As many events as it can, one after the other.
    case saturation(events: Int)
    /// A steady rate of events a second.
    case paced(rate: Int, seconds: Int)

    var events: Int {
        switch self {
        case .saturation(let events): events
        case .paced(let rate, let seconds): rate * seconds
        }
    }
    var rate: Int {
        switch self {
        case .saturation: 0
        case .paced(let rate, _): rate
        }
    }
    var description: String {
        switch self {
        case .saturation: "at saturation"
        case .paced(let rate, _): "at \(rate)/s"
        }
    }
}
