// Make the styles of xterm.js comply with the page's Content-Security-Policy: style elements get the
// nonce, and style attributes are set through the property.
const nonce = document.documentElement.dataset.nonce;
const create = document.createElement.bind(document);
document.createElement = (name, options) => {
  const element = create(name, options);
  if (name === "style") element.nonce = nonce;
  return element;
};
const set = Element.prototype.setAttribute;
Element.prototype.setAttribute = function (name, value) {
  if (name === "style") this.style.cssText = value;
  else set.call(this, name, value);
};
