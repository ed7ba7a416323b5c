import TestTraits
import Testing

/// A service, its stream and one that joins it with a present state, as a value that takes inputs.
protocol ExploredJoin: Hashable {
    associatedtype Input: CaseIterable
    init(isDurable: Bool)
    /// What contradicts the promise.
    var fault: String? { get }
    /// The joined state is the service's.
    var isCurrent: Bool { get }
    /// Something new at the service, which arrives.
    static var news: Input { get }
    /// False: the input does not apply here.
    mutating func apply(_ input: Input) -> Bool
    /// Answers, delivers and takes until nothing is left. False: that does not end.
    mutating func settle() -> Bool
}
extension ExploredJoin {
    /// Tries every sequence of so many inputs, and that each place that it leads to comes to rest, with the service's
    /// state.
    static func explore(isDurable: Bool, rounds: Int) throws {
        var seen: Set<Self> = []
        var worlds = [Self(isDurable: isDurable)]
        for _ in 0..<rounds {
            var next: [Self] = []
            for world in worlds {
                for input in Input.allCases {
                    var world = world
                    guard world.apply(input), seen.insert(world).inserted else { continue }
                    try #require(world.fault == nil, "\(world)")
                    next.append(world)
                }
            }
            worlds = next
        }
        #expect(seen.count > 5_000)
        for var world in seen {
            var isAtRest = world.settle()
            try #require(isAtRest, "it never comes to rest: \(world)")
            // A run without an entry shows with its first one.
            _ = world.apply(news)
            isAtRest = world.settle()
            try #require(isAtRest, "it never comes to rest: \(world)")
            try #require(world.fault == nil && world.isCurrent, "\(world)")
        }
    }
}
