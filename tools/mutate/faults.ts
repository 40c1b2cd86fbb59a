import ts from 'typescript'
import { type Random, seeded } from '../../test/fuzz/random.ts'

export const faultKinds = ['operator', 'condition', 'off by one', 'dropped await'] as const
export type FaultKind = (typeof faultKinds)[number]

/** A fault that can be planted: a piece of a file, and the text that replaces it. */
export interface Fault {
  readonly kind: FaultKind
  readonly file: string
  /** The line number, from 1. */
  readonly line: number
  /** Offsets of the replaced piece in the text of the file. */
  readonly from: number
  readonly to: number
  readonly before: string
  readonly after: string
  /** The whole line, without surrounding whitespace. It identifies the fault even if lines above it have changed. */
  readonly text: string
}

const otherOperators: Readonly<Partial<Record<ts.SyntaxKind, string>>> = {
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [ts.SyntaxKind.AmpersandAmpersandToken]: '||',
  [ts.SyntaxKind.BarBarToken]: '&&',
  [ts.SyntaxKind.PlusToken]: '-',
  [ts.SyntaxKind.MinusToken]: '+',
  [ts.SyntaxKind.AsteriskToken]: '/',
  [ts.SyntaxKind.PlusEqualsToken]: '-=',
  [ts.SyntaxKind.MinusEqualsToken]: '+=',
}

const nextTo: Readonly<Partial<Record<ts.SyntaxKind, string>>> = {
  [ts.SyntaxKind.LessThanToken]: '<=',
  [ts.SyntaxKind.LessThanEqualsToken]: '<',
  [ts.SyntaxKind.GreaterThanToken]: '>=',
  [ts.SyntaxKind.GreaterThanEqualsToken]: '>',
}

/** Every fault that can be planted in a file, except in types, imports and strings. */
export function faultsIn(file: string, text: string): Fault[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const lines = text.split('\n')
  const found: Fault[] = []
  const add = (kind: FaultKind, from: number, to: number, after: string) => {
    const { line } = source.getLineAndCharacterOfPosition(from)
    const before = text.slice(from, to)
    found.push({ kind, file, line: line + 1, from, to, before, after, text: (lines[line] ?? '').trim() })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return
    if (ts.isTypeAliasDeclaration(node)) return
    addFaultsOf(node, add)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

type Add = (kind: FaultKind, from: number, to: number, after: string) => void

function addFaultsOf(node: ts.Node, add: Add): void {
  if (ts.isBinaryExpression(node)) {
    const { operatorToken: operator } = node
    const other = joinsTexts(node) ? undefined : otherOperators[operator.kind]
    if (other !== undefined) add('operator', operator.getStart(), operator.end, other)
    const near = nextTo[operator.kind]
    if (near !== undefined) add('off by one', operator.getStart(), operator.end, near)
  } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    add('operator', node.getStart(), node.operand.getStart(), '')
  } else if (ts.isIfStatement(node)) {
    addCondition(node.expression, add)
  } else if (ts.isConditionalExpression(node)) {
    addCondition(node.condition, add)
  } else if (ts.isNumericLiteral(node) && !ts.isPropertyAssignment(node.parent.parent ?? node)) {
    const value = Number(node.text)
    if (Number.isSafeInteger(value)) add('off by one', node.getStart(), node.end, String(value + 1))
  } else if (ts.isAwaitExpression(node) && !isPassedOn(node)) {
    add('dropped await', node.getStart(), node.expression.getStart(), '')
  }
}

function addCondition(condition: ts.Expression, add: Add): void {
  for (const value of ['true', 'false']) add('condition', condition.getStart(), condition.end, value)
}

/** True for a plus that joins strings, because it has no opposite operator. */
function joinsTexts({ left, right, operatorToken }: ts.BinaryExpression): boolean {
  if (operatorToken.kind !== ts.SyntaxKind.PlusToken && operatorToken.kind !== ts.SyntaxKind.PlusEqualsToken)
    return false
  const isText = (each: ts.Expression) => ts.isStringLiteralLike(each) || ts.isTemplateExpression(each)
  return isText(left) || isText(right)
}

/** True for `return await` outside of a try block, where the await makes no difference. */
function isPassedOn(node: ts.AwaitExpression): boolean {
  if (!ts.isReturnStatement(node.parent)) return false
  for (let at: ts.Node = node; at && !ts.isFunctionLike(at); at = at.parent) if (ts.isTryStatement(at)) return false
  return true
}

/** The text of a file with the fault planted. */
export function planted(text: string, { from, to, after }: Fault): string {
  return text.slice(0, from) + after + text.slice(to)
}

/** Chooses `count` faults, evenly spread over the kinds, in an order that depends on the seed. */
export function chosen(faults: readonly Fault[], count: number, seed: number): Fault[] {
  const random = seeded(seed)
  const byKind = faultKinds.map((kind) =>
    shuffled(
      faults.filter((fault) => fault.kind === kind),
      random,
    ),
  )
  const picked: Fault[] = []
  for (let round = 0; picked.length < count && byKind.some((list) => list.length > 0); round++) {
    const fault = byKind[round % byKind.length]?.pop()
    if (fault) picked.push(fault)
  }
  return picked
}

function shuffled<T>(list: T[], random: Random): T[] {
  for (let at = list.length - 1; at > 0; at--) {
    const other = random.int(at + 1)
    const kept = list[at] as T
    list[at] = list[other] as T
    list[other] = kept
  }
  return list
}
