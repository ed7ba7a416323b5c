import Fleet
import Glibc
import RelayCore
import RelayJournal

/// One unit: `fleet-unit INDEX [SAMPLES A SECOND [SAMPLES IN ALL]]`. It samples as soon as somebody listens. With a folder
/// in `FLEET_STATE` it has a log.
@main struct FleetUnitProgram: RelayProgram {
    static func run() async throws {
        let numbers = CommandLine.arguments.dropFirst().map { Int($0) ?? -1 }
        guard (1...3).contains(numbers.count), numbers.allSatisfy({ $0 >= 0 }) else {
            throw RelayError(.invalidArgument, "usage: fleet-unit INDEX [SAMPLES A SECOND [SAMPLES IN ALL]]")
        }
        let unit = FleetUnit(numbers[0])
        let (rate, most) = (numbers.count > 1 ? numbers[1] : 1_000, numbers.count > 2 ? numbers[2] : Int.max)
        if unit.hasRing {
            try await run(unit, RingSampled.self, rate: rate, most: most)
        } else {
            try await run(unit, SignalSampled.self, rate: rate, most: most)
        }
    }
    private static func run<S: Sample>(_ unit: FleetUnit, _ type: S.Type, rate: Int, most: Int) async throws
    where S.Interface.Durability == Volatile {
        let isLogging = getenv("FLEET_STATE") != nil
        let service =
            try isLogging ? logging(unit, type) : EventService(name: unit.service, exporting: S.Interface.self)
        if isLogging { try await service.publish(UnitStarted(unit: Int32(unit.index))) }
        try await service.run(alongside: {
            while service.metrics.streams.allSatisfy({ $0.subscribers == 0 }) {
                try await Task.sleep(for: .milliseconds(10))
            }
            var (pace, number, isHot) = (Pace(rate: rate), 0, false)
            while number < most {
                try await Task.sleep(for: .milliseconds(10))
                for _ in 0..<min(pace.due(at: .now), most - number) {
                    number += 1
                    let celsius = 20 + Double(unit.index) + 5 * sin(Double(number) / 500)
                    try service.publish(S(number: UInt64(number), celsius: celsius))
                    let wasHot = isHot
                    isHot = celsius > 24 + Double(unit.index)
                    if isHot, !wasHot, isLogging {
                        try await service.publish(UnitOverheated(unit: Int32(unit.index), celsius: celsius))
                    }
                }
            }
        })
    }
    private static func logging<S: Sample>(_ unit: FleetUnit, _ type: S.Type) throws -> EventService {
        let folder = getenv("FLEET_STATE").map { String(cString: $0) } ?? ""
        return try EventService(
            name: unit.service, exporting: S.Interface.self, UnitLog1.self,
            journal: try EventJournal(directory: "\(folder)/\(unit.index)"))
    }
}

/// How many samples are due: on a machine that is late, at most those of a tenth of a second at once.
struct Pace {
    let rate: Int
    private var last = ContinuousClock.now
    private var rest = 0.0

    init(rate: Int) { self.rate = rate }

    mutating func due(at now: ContinuousClock.Instant) -> Int {
        rest = min(rest + (now - last) / .seconds(1) * Double(rate), max(1, Double(rate) / 10))
        last = now
        let whole = Int(rest)
        rest -= Double(whole)
        return whole
    }
}
