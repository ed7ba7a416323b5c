/// Events live as long as the process: a gap is reported with its range.
public struct Volatile: InterfaceDurability {
    public init() {}
}
