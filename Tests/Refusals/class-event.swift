// expect: non-final class 'Mutable' cannot conform to the 'Sendable' protocol
import RelayCore

class Mutable: Event { var number = 0 }
