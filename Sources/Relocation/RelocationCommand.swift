public import RelayCore

/// A command of `Relocation1`.
public nonisolated protocol RelocationCommand: Command where Interface == Relocation1 {}
