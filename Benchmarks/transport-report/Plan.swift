/// What is measured, and under which loads.
public struct Plan: Sendable {
    public static let sizes = [64, 256, 1_024, 4_096]
    public static let fanOuts = [1, 4, 16, 64]
    public let cells: [Cell]
    public let rounds: Int
    /// What is measured in a round, in this order. How long it takes until a sleeper runs depends on where the scheduler puts it, and
    /// differs from process to process: twice.
    public var round: [Cell] {
        cells + cells.filter { $0.section == .fanOut || $0.section == .latency && $0.waiting == .block }
    }
    /// Parts of the full lengths: a trial run takes a tenth.
    public let scale: Double

    public init(rounds: Int, isQuick: Bool, only text: String? = nil) {
        self.rounds = rounds
        scale = isQuick ? 0.2 : 1
        cells = (isQuick ? Self.allCells.filter { Self.isInTrial($0) } : Self.allCells).filter { cell in
            guard let text else { return true }
            return text.split(separator: " ").allSatisfy { word in "\(cell)".split(separator: " ").contains(word) }
        }
    }
    /// A trial knows every contender in every section, with fewer sizes.
    private static func isInTrial(_ cell: Cell) -> Bool {
        cell.section == .fanOut ? cell.receivers != 16 : cell.size == 64 || cell.size == 4_096
    }

    /// Neighbours are what will be compared: they meet the machine in the same mood.
    public static let allCells: [Cell] = {
        var cells: [Cell] = []
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
            for contender in Contender.allCases where contender != .barePayload && contender != .oursCoded {
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
    /// How many events a run of the cell has; 0 where a time says it.
    public func count(of cell: Cell) -> Int {
        let full: Int =
            switch cell.section {
            case .latency:
                cell.waiting == .spin ? 20_000 : Int(500_000_000 / Self.interval(of: cell))
            case .fanOut: 100
            case .publish: cell.receivers == 64 ? 500_000 : 1_000_000
            case .wake: 40
            case .lossless, .fullSpeed: 0
            }
        return full == 0 ? 0 : max(20, Int(Double(full) * scale))
    }
    public func milliseconds(of cell: Cell) -> Int { Int(150 * max(scale, 0.5)) }
    /// How far a sender may be ahead where the contender has no back-pressure of its own; 0 where it has.
    public static func window(of cell: Cell) -> Int {
        switch cell.contender {
        case .bareWords, .barePayload: 1
        // Half of what the ring holds.
        case .ring, .ours, .oursCoded, .oursWithSignals: (2 << 20) / (cell.size + 40)
        case .signal: 1_000
        case .datagram, .zeromq, .iceoryx: 0
        }
    }
}
