/// What is measured, and under which loads.
public struct Plan: Sendable {
    public static let sizes = [64, 256, 1_024, 4_096]
    public static let fanOuts = [1, 4, 16, 64]
    public let cells: [Cell]
    public let rounds: Int
    /// What is measured in a round, in this order. How long it takes until a sleeper runs depends on where the scheduler puts it, and
    /// differs from process to process: twice, where no process is confined to a processor.
    public var round: [Cell] { cells + cells.filter { $0.section == .fanOut } }
    private let isQuick: Bool
    /// The part of the full length that a cell has in a trial.
    private func scale(_ cell: Cell) -> Double {
        if !isQuick { return 1 }
        return cell.section == .latency || Self.isProbe(cell) ? 0.1 : 0.2
    }
    private static func isProbe(_ cell: Cell) -> Bool { cell.section == .senderStops || cell.section == .receiverStops }

    public init(rounds: Int, isQuick: Bool, only text: String? = nil) {
        self.rounds = rounds
        self.isQuick = isQuick
        let all = isQuick ? Self.allCells.filter { Self.isInTrial($0) } : Self.allCells
        let words = text?.split(separator: " ") ?? []
        let chosen = all.filter { cell in words.allSatisfy { "\(cell)".split(separator: " ").contains($0) } }
        // Nobody can judge a time without the machine's own stops.
        let needsProbe = chosen.contains { $0.section == .latency || $0.section == .fanOut }
        cells = (needsProbe ? all.filter { Self.isProbe($0) } : []) + chosen.filter { !needsProbe || !Self.isProbe($0) }
    }
    /// A trial knows every contender in every section, with fewer sizes.
    private static func isInTrial(_ cell: Cell) -> Bool {
        cell.section == .fanOut ? cell.receivers != 16 : cell.size == 64 || cell.size == 4_096
    }

    /// Neighbours are what will be compared: they meet the machine in the same mood.
    public static let allCells: [Cell] = {
        var cells = [Cell(.senderStops, .machine, .spin), Cell(.receiverStops, .machine, .spin)]
        for contender: Contender in [.ring, .ours] {
            if contender == .ring { cells.append(Cell(.publish, contender, receivers: 0)) }
            cells += [Cell(.publish, contender, receivers: 1), Cell(.publish, contender, receivers: 64)]
        }
        cells += [Contender.ring, .ours, .oursWithSignals].map { Cell(.wake, $0, receivers: 64) }
        for waiting in Waiting.allCases {
            for section: Cell.Section in [.latency, .lossless, .fullSpeed] {
                for size in sizes {
                    for contender in Contender.allCases
                    where contender.waits.contains(waiting) && contender.sizes.contains(size)
                        && isMeasured(contender, in: section, waiting, size)
                    {
                        cells.append(Cell(section, contender, waiting, size: size))
                    }
                }
            }
        }
        for receivers in fanOuts {
            for contender in Contender.carriers where contender != .barePayload && contender != .oursCoded {
                cells.append(Cell(.fanOut, contender, receivers: receivers))
            }
        }
        return cells
    }()
    private static func isMeasured(
        _ contender: Contender, in section: Cell.Section, _ waiting: Waiting, _ size: Int
    ) -> Bool {
        switch section {
        // A hand-over has no queue: its sender waits for each, and without that it would only measure what it overwrites.
        case .lossless: contender != .oursWithSignals
        // How much comes through when nobody waits: once, in the form that takes it fastest, in the smallest and the largest size.
        case .fullSpeed:
            ![.bareWords, .barePayload, .oursWithSignals].contains(contender)
                && (waiting == .spin || contender == .signal) && [64, 4_096].contains(size)
        default: true
        }
    }

    // MARK: Loads

    /// Nanoseconds between two events of a paced load.
    public static func interval(of cell: Cell) -> UInt64 {
        switch cell.section {
        case .fanOut: 5_000_000
        // Sparse enough that every receiver sleeps when an event comes, and more than the signal budget of 2,000/s. (Sparser by much,
        // and a virtual machine's host takes part: what it takes to bring a processor back differs from one moment to the next.)
        case .latency where cell.waiting == .block: cell.contender == .oursWithSignals ? 1_000_000 : 100_000
        // Denser than a relay's thread spins before it sleeps.
        default: 10_000
        }
    }
    /// How long events come at a steady pace, in nanoseconds. The machine stops a processor for milliseconds, a few times a
    /// second: in a run that is shorter than some seconds, chance decides whether a percentile shows it.
    private static let paced = 3_000_000_000
    /// How many events a run of the cell has; 0 where a time says it. Of a probe: how many stops there is room for.
    public func count(of cell: Cell) -> Int {
        if Self.isProbe(cell) { return 100_000 }
        let full: Int =
            switch cell.section {
            case .senderStops, .receiverStops: 0
            case .latency: Self.paced / Int(Self.interval(of: cell))
            case .fanOut: 200
            case .publish: cell.receivers == 64 ? 500_000 : 1_000_000
            case .wake: 40
            case .lossless, .fullSpeed: 0
            }
        return full == 0 ? 0 : max(20, Int(Double(full) * scale(cell)))
    }
    public func milliseconds(of cell: Cell) -> Int {
        Self.isProbe(cell) ? Int(Double(Self.paced / 1_000_000) * scale(cell)) : isQuick ? 75 : 150
    }
    /// How far a sender may be ahead where the contender has no back-pressure of its own; 0 where it has.
    public static func window(of cell: Cell) -> Int {
        switch cell.contender {
        case .machine, .bareWords, .barePayload: 1
        // Half of what the ring holds.
        case .ring, .ours, .oursCoded, .oursWithSignals: (2 << 20) / (cell.size + 40)
        case .signal: 1_000
        case .datagram, .zeromq, .iceoryx: 0
        }
    }
}
