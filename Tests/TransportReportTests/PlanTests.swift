import TransportReport
import Testing

@Suite("Bench plan")
struct PlanTests {
    @Test("every contender is measured in every form and size that it has, once a round")
    func completeness() {
        #expect(Set(Plan.allCells).count == Plan.allCells.count)
        for contender in Contender.allCases {
            for waiting in contender.waits {
                for size in contender.sizes {
                    #expect(Plan.allCells.contains(Cell(.latency, contender, waiting, size: size)))
                    let isMeasured = Plan.allCells.contains(Cell(.lossless, contender, waiting, size: size))
                    #expect(isMeasured == (contender != .oursWithSignals))
                }
            }
        }
        for contender in Contender.peers + [.bareWords, .ring, .ours, .oursWithSignals, .signal] {
            for receivers in [1, 4, 16, 64] {
                #expect(Plan.allCells.contains(Cell(.fanOut, contender, receivers: receivers)))
            }
        }
    }
    @Test("a trial leaves no contender out of a section")
    func trial() {
        func pairs(_ cells: [Cell]) -> Set<String> { Set(cells.map { "\($0.section) \($0.contender) \($0.waiting)" }) }
        let trial = Plan(rounds: 1, isQuick: true)
        #expect(pairs(trial.cells) == pairs(Plan.allCells))
        #expect(trial.cells.count < Plan.allCells.count)
    }
    @Test("words choose cells")
    func words() {
        let plan = Plan(rounds: 1, isQuick: false, only: "latency spin 64 iceoryx")
        // The machine's own stops are beside every time.
        let probes = [Cell(.senderStops, .machine, .spin), Cell(.receiverStops, .machine, .spin)]
        #expect(plan.cells == probes + [Cell(.latency, .iceoryx, .spin)])
        #expect(Plan(rounds: 1, isQuick: false, only: "machine").cells == probes)
        let fast = Plan(rounds: 1, isQuick: false, only: "lossless spin 64 iceoryx").cells
        #expect(fast == [Cell(.lossless, .iceoryx, .spin)])
        #expect(Plan(rounds: 1, isQuick: false, only: "nothing").cells.isEmpty)
    }
    @Test("a blocking load is above the signal budget, and sparser than a receiver spins; a spinning one is denser")
    func pacing() {
        let (blocking, spinning) = (Cell(.latency, .ours, .block), Cell(.latency, .ours, .spin))
        #expect(1_000_000_000 / Plan.interval(of: blocking) > 2_000)
        #expect(Plan.interval(of: blocking) >= 100_000)
        #expect(Plan.interval(of: spinning) <= 20_000)
        #expect(1_000_000_000 / Plan.interval(of: Cell(.latency, .oursWithSignals)) < 2_000)
        let (full, trial) = (Plan(rounds: 5, isQuick: false), Plan(rounds: 1, isQuick: true))
        // Three seconds of each, and a tenth of that in a trial.
        #expect(full.count(of: spinning) == 300_000)
        #expect(full.count(of: blocking) == 30_000)
        #expect(trial.count(of: blocking) == 3_000)
        #expect(full.milliseconds(of: Cell(.receiverStops, .machine, .spin)) == 3_000)
        #expect(full.count(of: Cell(.lossless, .ours, .spin)) == 0)
    }
    @Test("what depends on the scheduler is measured twice a round, all else once") func repeated() {
        let plan = Plan(rounds: 5, isQuick: false)
        for cell in plan.cells {
            #expect(plan.round.count { $0 == cell } == (cell.section == .fanOut ? 2 : 1), "\(cell)")
        }
    }
    @Test("a window is half of what a ring holds at most")
    func windows() {
        for size in Plan.sizes {
            let window = Plan.window(of: Cell(.lossless, .ring, .spin, size: size))
            #expect(window * (size + 32) <= 2 << 20)
            // The receiver tells its progress each 64 events.
            #expect(window >= 256)
        }
    }
}
