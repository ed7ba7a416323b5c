/// A processor's line of /proc/stat, in the kernel's clock ticks.
struct CPUTimes: Equatable {
    let cpu: UInt32
    /// user, nice, system, idle, iowait, irq, softirq, steal; 0 for those that an older kernel does not count.
    let ticks: [UInt64]

    static let kinds = 8
    /// Kernels have always reported these.
    private static let known = 4

    /// The processors' lines, which come first; the line of all together is left out.
    static func parse(_ text: ArraySlice<UInt8>) throws(ProcFault) -> [CPUTimes] {
        var (scanner, found) = (ProcScanner(text), [CPUTimes]())
        while var line = scanner.line(), line.take("cpu") {
            if line.take(" ") { continue }
            guard let number = line.number(), let cpu = UInt32(exactly: number) else {
                throw ProcFault(what: "a processor's number")
            }
            var ticks: [UInt64] = []
            ticks.reserveCapacity(kinds)
            while ticks.count < kinds, let number = line.number() { ticks.append(number) }
            if ticks.count < known { throw ProcFault(what: "the times of 'cpu\(cpu)'") }
            ticks += [UInt64](repeating: 0, count: kinds - ticks.count)
            found.append(CPUTimes(cpu: cpu, ticks: ticks))
        }
        if found.isEmpty { throw ProcFault(what: "a line of a processor") }
        return found
    }
}
