/**
 * Every module that a source file reaches for, as the TypeScript parser sees it: static, type-only and side-effect
 * imports, re-exports, import types, dynamic imports, require under any name it was created with, and references.
 */
import ts from 'typescript'

/** @typedef {{ specifier: string | undefined, line: number, text: string }} Reach `specifier` is undefined if computed */

const REQUIRE_FACTORIES = new Set(['createRequire'])
const PROPERTY_CALLS = new Set(['require.resolve', 'import.meta.resolve', 'process.getBuiltinModule'])

/** The names of variables that hold a require function. */
function requireNames(sourceFile) {
  const names = new Set(['require'])
  const visit = (node) => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer) {
      if (isRequireFactory(node.initializer)) names.add(node.name.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(sourceFile)
  return names
}

function isRequireFactory(node) {
  if (!ts.isCallExpression(node)) return false
  const callee = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression
  return ts.isIdentifier(callee) && REQUIRE_FACTORIES.has(callee.text)
}

/** The node that names the module, or undefined if `node` reaches for none. */
function moduleNameOf(node, requires) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier
  if (ts.isExternalModuleReference(node)) return node.expression
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined
  if (!ts.isCallExpression(node)) return undefined
  const { expression } = node
  const reaches =
    expression.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(expression) && requires.has(expression.text)) ||
    (ts.isPropertyAccessExpression(expression) &&
      (PROPERTY_CALLS.has(expression.getText()) ||
        (ts.isIdentifier(expression.expression) &&
          requires.has(expression.expression.text) &&
          expression.name.text === 'resolve'))) ||
    isRequireFactory(expression)
  return reaches ? node.arguments[0] : undefined
}

/**
 * @param {string} fileName
 * @param {string} text
 * @returns {Reach[]}
 */
export function importSpecifiers(fileName, text) {
  const sourceFile = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, true)
  const requires = requireNames(sourceFile)
  const lineOf = (position) => sourceFile.getLineAndCharacterOfPosition(position).line + 1
  /** @type {Reach[]} */
  const found = [...sourceFile.typeReferenceDirectives, ...sourceFile.referencedFiles].map((reference) => ({
    specifier: reference.fileName,
    line: lineOf(reference.pos),
    text: reference.fileName
  }))
  const visit = (node) => {
    const name = moduleNameOf(node, requires)
    if (name) {
      const specifier = ts.isStringLiteralLike(name) ? name.text : undefined
      found.push({ specifier, line: lineOf(name.getStart()), text: name.getText() })
    }
    ts.forEachChild(node, visit)
  }
  visit(sourceFile)
  return found
}
