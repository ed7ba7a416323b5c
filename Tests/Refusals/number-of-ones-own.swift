// expect: type 'Angle' does not conform to protocol 'FixedLayoutNumber'
import RelayCore
struct Angle: FixedLayoutNumber { var degrees: Float }
